// Edge: the bodies of Asio and Beast, compiled once for the whole program (CMakeLists.txt defines
// the macros that say so).
#include <boost/asio/impl/src.hpp>
#include <boost/beast/src.hpp>
