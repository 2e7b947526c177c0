// Analyzer stage: a function for each row of checks.def.
#pragma once

#include "doctor/exam.h"

namespace stoker::doctor {

#define STOKER_DOCTOR_CHECK(symbol, id, severity, where, gate, title, why, fix, source) \
  void check_##symbol(Exam& exam);
#include "doctor/checks.def"
#undef STOKER_DOCTOR_CHECK

}  // namespace stoker::doctor
