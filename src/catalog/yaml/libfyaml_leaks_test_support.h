// Test support: libfyaml 0.7.12 loses 4 KiB on some files that it refuses (a long quoted key without a
// value, found by config_fuzz). The leak sanitizer is told so; leaks of ours still count.
#pragma once

// NOLINTNEXTLINE(readability-identifier-naming,misc-definitions-in-headers): LeakSanitizer's own name
extern "C" const char* __lsan_default_suppressions() { return "leak:libfyaml.so\n"; }
