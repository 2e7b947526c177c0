// Analyzer stage: findings as what build servers read. JSON and SARIF are model/render.h's.
#pragma once

#include <span>
#include <string>

#include "model/finding.h"

namespace stoker::lint {

// JUnit's XML as Jenkins and GitLab read it (https://github.com/testmoapp/junitxml): a test suite a file of `files` (or an
// object of a cluster, by entity_word()), a failed test case a finding; a file without findings is one that passed.
std::string render_junit(std::span<const Finding> findings, std::span<const std::string> files);

// One workflow command a finding, which GitHub shows beside the line
// (https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands).
std::string render_github(std::span<const Finding> findings);

}  // namespace stoker::lint
