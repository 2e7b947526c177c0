// Composition: CLI11's names, without its 3.7 seconds of header.
#pragma once

namespace CLI {  // NOLINT(readability-identifier-naming): theirs
class App;
class Option;
class ParseError;
}  // namespace CLI
