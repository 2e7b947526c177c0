// Composition: what the inquirer tells the agent: packets of text, "NAME\tTEXT". The agent believes their form alone: what
// is inside comes from a job's files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/job_word.h"
#include "nccl/verdict.h"

namespace stoker::app {

inline constexpr std::size_t longest_packet = 4096;
inline constexpr std::size_t most_packets = 64;

// Of a verdict, none where nothing could be read; and of what could not be asked.
std::vector<std::string> packets_of(const nccl::Verdict* verdict,
                                    const std::vector<std::string>& problems);

// One packet into `word`. What it does not know is passed over; text comes out as one line of UTF-8 without control
// characters, and the word says nothing that the inquirer's classes and confidences don't.
void take_packet(std::string_view packet, JobWord& word);

}  // namespace stoker::app
