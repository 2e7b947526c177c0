# Libraries from Debian 12 (tools/packages.txt), as imported targets that modules name in LIBS.
# What a module links is what it may include: only fmt, tl::expected and threads are for everybody.
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(fmt REQUIRED)                     # fmt::fmt
find_package(tl-expected REQUIRED)             # tl::expected
find_package(spdlog REQUIRED)                  # spdlog::spdlog            base/log.cpp only
find_package(Boost 1.81 REQUIRED)              # Boost::headers            src/net only
find_package(CURL REQUIRED)                    # CURL::libcurl             src/net only
find_package(SQLiteCpp REQUIRED)               # SQLiteCpp                 src/db only
find_package(ZLIB REQUIRED)                    # ZLIB::ZLIB
find_package(nlohmann_json REQUIRED)           # nlohmann_json::nlohmann_json   src/api only
find_package(CLI11 REQUIRED)                   # CLI11::CLI11              apps/stoker only
find_package(Python3 REQUIRED COMPONENTS Interpreter)   # Python3::Interpreter, tests and tools
find_package(GTest REQUIRED)                   # GTest::gtest_main
find_package(rapidcheck REQUIRED)              # rapidcheck_gtest
find_package(benchmark REQUIRED)               # benchmark::benchmark_main
# apps/stoker only, and its libraries alone: its flags (-D_DEFAULT_SOURCE), which g++ implies, keep the precompiled header out
pkg_check_modules(ncursesw REQUIRED ncursesw)  # ncursesw_LINK_LIBRARIES
find_package(Protobuf REQUIRED)                # protobuf::libprotobuf, protobuf::protoc   src/cluster/kubernetes only
# Without TLS: a UNIX socket has none, and OpenSSL would be loaded for nothing.
pkg_check_modules(grpc REQUIRED IMPORTED_TARGET GLOBAL grpc++_unsecure)   # PkgConfig::grpc   src/cluster/kubernetes only
pkg_check_modules(zstd REQUIRED IMPORTED_TARGET GLOBAL libzstd)     # PkgConfig::zstd
pkg_check_modules(mnl REQUIRED IMPORTED_TARGET GLOBAL libmnl)       # PkgConfig::mnl   src/os only
# Its header alone: the library is loaded where there is a journal to read (src/os/journal_library.h).
find_path(STOKER_SYSTEMD_HEADERS systemd/sd-journal.h REQUIRED)
find_path(STOKER_TOMLPLUSPLUS_HEADERS toml++/toml.h REQUIRED)       # headers alone; src/doctor only
# Headers alone: libibnetdisc and libibmad are loaded where a fabric is swept (src/fabric/subnet/fabric_library.h).
find_path(STOKER_INFINIBAND_HEADERS infiniband/ibnetdisc.h REQUIRED)
pkg_check_modules(fyaml REQUIRED IMPORTED_TARGET GLOBAL libfyaml)   # PkgConfig::fyaml

target_link_libraries(stoker_options INTERFACE fmt::fmt tl::expected Threads::Threads)
