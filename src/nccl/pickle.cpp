// Python's pickle as a Tree. A pickle is a program for a small stack machine, and Python's own reader runs whatever it
// names; this one knows only the instructions that make data, and refuses the others by name. Instructions:
// Lib/pickletools.py of CPython 3.13 (protocols 0 to 5).
#include <fmt/format.h>

#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <unordered_map>

#include "base/text.h"
#include "nccl/tree.h"

namespace stoker::nccl {
namespace {

constexpr std::size_t deepest_stack = 1U << 16U;
constexpr std::size_t largest_memo = std::size_t{1} << 22U;

struct Refused {
  unsigned char code;
  const char* name;
};
constexpr std::array<Refused, 20> refused = {{
    {'c', "GLOBAL"},      {0x93, "STACK_GLOBAL"}, {'R', "REDUCE"},
    {'b', "BUILD"},       {'i', "INST"},          {'o', "OBJ"},
    {0x81, "NEWOBJ"},     {0x92, "NEWOBJ_EX"},    {'P', "PERSID"},
    {'Q', "BINPERSID"},   {0x82, "EXT1"},         {0x83, "EXT2"},
    {0x84, "EXT4"},       {0x97, "NEXT_BUFFER"},  {0x98, "READONLY_BUFFER"},
    {0x96, "BYTEARRAY8"}, {0x8f, "EMPTY_SET"},    {0x90, "ADDITEMS"},
    {0x91, "FROZENSET"},  {'2', "DUP"},
}};

class Machine {
 public:
  explicit Machine(std::string_view bytes) : rest_(bytes), all_(bytes.size()) {}

  Result<Tree> run() {
    while (!stopped_) {
      const auto code = number<std::uint8_t>();
      if (!code) return fail(code.error());
      if (const auto done = step(*code); !done) return fail(done.error());
    }
    if (stack_.empty()) return broken("nothing is left at the end");
    tree_.root = stack_.back();
    return std::move(tree_);
  }

 private:
  using Kind = Tree::Kind;

  [[nodiscard]] tl::unexpected<Error> broken(std::string_view why) const {
    return fail(ErrorCode::corrupt,
                fmt::format("the pickle is damaged at byte {}: {}", all_ - rest_.size(), why));
  }
  Result<std::string_view> take(std::uint64_t size) {
    if (size > rest_.size()) return broken("it is cut");
    const auto taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }
  template <typename T>
  Result<T> number() {
    const auto bytes = take(sizeof(T));
    if (!bytes) return fail(bytes.error());
    T value{};
    std::memcpy(&value, bytes->data(),
                sizeof value);  // little-endian, as the machines that this is built for
    return value;
  }
  Result<std::string_view> line() {
    const auto end = rest_.find('\n');
    if (end == std::string_view::npos) return broken("it is cut");
    const auto text = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return text;
  }

  Result<void> push(Tree::Node node) {
    if (stack_.size() >= deepest_stack) return broken("its stack is too deep");
    const auto index = tree_.add(std::move(node));
    if (!index) return fail(index.error());
    stack_.push_back(*index);
    return {};
  }
  Result<void> push_integer(Result<std::int64_t> value) {
    if (!value) return fail(value.error());
    return push({.kind = Kind::integer, .integer = *value});
  }
  template <typename T>
  Result<void> push_number() {
    const auto value = number<T>();
    if (!value) return fail(value.error());
    return push({.kind = Kind::integer, .integer = static_cast<std::int64_t>(*value)});
  }
  Result<void> push_text(Result<std::string_view> text) {
    if (!text) return fail(text.error());
    return push({.kind = Kind::text, .text = std::string(*text)});
  }
  template <typename T>
  Result<void> push_sized() {
    const auto size = number<T>();
    if (!size) return fail(size.error());
    return push_text(take(static_cast<std::uint64_t>(*size)));
  }
  Result<void> push_long(std::uint64_t size) {
    const auto bytes = take(size);
    if (!bytes) return fail(bytes.error());
    if (size > sizeof(std::int64_t))
      return push({.kind = Kind::real});  // no field of a dump is so large
    std::uint64_t value = 0;
    for (std::size_t at = 0; at < size; ++at) {
      value |= std::uint64_t{static_cast<unsigned char>((*bytes)[at])} << (8 * at);
    }
    const bool negative = size > 0 && (static_cast<unsigned char>(bytes->back()) & 0x80U) != 0;
    if (negative && size < sizeof value) value |= ~std::uint64_t{0} << (8 * size);
    return push({.kind = Kind::integer, .integer = static_cast<std::int64_t>(value)});
  }
  Result<std::int64_t> decimal() {
    auto text = line();
    if (!text) return fail(text.error());
    if (text->ends_with('L')) text->remove_suffix(1);
    const auto value = whole_number<std::int64_t>(*text);
    if (!value) return broken("a number is none");
    return *value;
  }
  Result<void> push_big_endian_real() {
    const auto bits = number<std::uint64_t>();
    if (!bits) return fail(bits.error());
    return push({.kind = Kind::real, .real = std::bit_cast<double>(__builtin_bswap64(*bits))});
  }
  Result<void> push_decimal_real() {
    const auto text = line();
    if (!text) return fail(text.error());
    double value = 0;
    std::from_chars(text->data(), text->data() + text->size(), value);
    return push({.kind = Kind::real, .real = value});
  }

  // What stands above the last mark, which goes.
  Result<std::vector<Tree::Index>> above_mark() {
    if (marks_.empty() || marks_.back() > stack_.size()) return broken("a mark is missing");
    const auto first = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
    std::vector<Tree::Index> items(first, stack_.end());
    stack_.erase(first, stack_.end());
    marks_.pop_back();
    return items;
  }
  Result<std::vector<Tree::Index>> top(std::size_t count) {
    if (stack_.size() < count) return broken("its stack is empty");
    std::vector<Tree::Index> items(stack_.end() - static_cast<std::ptrdiff_t>(count), stack_.end());
    stack_.resize(stack_.size() - count);
    return items;
  }
  Result<void> make(Kind kind, Result<std::vector<Tree::Index>> items) {
    if (!items) return fail(items.error());
    if (kind == Kind::table && items->size() % 2 != 0) return broken("a key has no value");
    return push({.kind = kind, .items = *std::move(items)});
  }
  Result<void> extend(Kind kind, Result<std::vector<Tree::Index>> items) {
    if (!items) return fail(items.error());
    if (stack_.empty() || tree_.at(stack_.back()).kind != kind)
      return broken("there is nothing to add to");
    if (kind == Kind::table && items->size() % 2 != 0) return broken("a key has no value");
    auto& into = tree_.at(stack_.back()).items;
    if (into.size() + items->size() > Tree::most_nodes) return broken("a list is too long");
    into.insert(into.end(), items->begin(), items->end());
    return {};
  }

  Result<void> put(Result<std::int64_t> key) {
    if (!key) return fail(key.error());
    if (stack_.empty()) return broken("there is nothing to remember");
    if (memo_.size() >= largest_memo) return broken("it remembers too much");
    memo_[*key] = stack_.back();
    return {};
  }
  Result<void> get(Result<std::int64_t> key) {
    if (!key) return fail(key.error());
    const auto found = memo_.find(*key);
    if (found == memo_.end()) return broken("it names what it never remembered");
    if (stack_.size() >= deepest_stack) return broken("its stack is too deep");
    stack_.push_back(found->second);
    return {};
  }
  template <typename T>
  Result<std::int64_t> key() {
    const auto value = number<T>();
    if (!value) return fail(value.error());
    return static_cast<std::int64_t>(*value);
  }
  Result<void> skip(std::uint64_t size) {
    const auto skipped = take(size);
    if (!skipped) return fail(skipped.error());
    return {};
  }

  Result<void> step(std::uint8_t code) {
    switch (code) {
      case '.': stopped_ = true; return {};                           // STOP
      case 0x80: return skip(1);                                      // PROTO
      case 0x95: return skip(8);                                      // FRAME
      case '(': return mark();                                        // MARK
      case '0': return pop();                                         // POP
      case '1': return forget(above_mark());                          // POP_MARK
      case 'N': return push({});                                      // NONE
      case 0x88: return push({.kind = Kind::boolean, .integer = 1});  // NEWTRUE
      case 0x89: return push({.kind = Kind::boolean});                // NEWFALSE
      case 'I': return push_integer(decimal());                       // INT ("I01": True)
      case 'L': return push_integer(decimal());                       // LONG
      case 'J': return push_number<std::int32_t>();                   // BININT
      case 'K': return push_number<std::uint8_t>();                   // BININT1
      case 'M': return push_number<std::uint16_t>();                  // BININT2
      case 0x8a: return with_size<std::uint8_t>();                    // LONG1
      case 0x8b: return with_size<std::uint32_t>();                   // LONG4
      case 'F': return push_decimal_real();                           // FLOAT
      case 'G': return push_big_endian_real();                        // BINFLOAT
      default: return step_more(code);
    }
  }
  Result<void> step_more(std::uint8_t code) {
    switch (code) {
      case 'V': return push_text(line());                              // UNICODE
      case 'S': return push_text(line());                              // STRING
      case 'U': return push_sized<std::uint8_t>();                     // SHORT_BINSTRING
      case 'T': return push_sized<std::uint32_t>();                    // BINSTRING
      case 'C': return push_sized<std::uint8_t>();                     // SHORT_BINBYTES
      case 'B': return push_sized<std::uint32_t>();                    // BINBYTES
      case 0x8e: return push_sized<std::uint64_t>();                   // BINBYTES8
      case 0x8c: return push_sized<std::uint8_t>();                    // SHORT_BINUNICODE
      case 'X': return push_sized<std::uint32_t>();                    // BINUNICODE
      case 0x8d: return push_sized<std::uint64_t>();                   // BINUNICODE8
      case ']': return push({.kind = Kind::list});                     // EMPTY_LIST
      case ')': return push({.kind = Kind::list});                     // EMPTY_TUPLE
      case '}': return push({.kind = Kind::table});                    // EMPTY_DICT
      case 'l': return make(Kind::list, above_mark());                 // LIST
      case 't': return make(Kind::list, above_mark());                 // TUPLE
      case 'd': return make(Kind::table, above_mark());                // DICT
      case 0x85: return make(Kind::list, top(1));                      // TUPLE1
      case 0x86: return make(Kind::list, top(2));                      // TUPLE2
      case 0x87: return make(Kind::list, top(3));                      // TUPLE3
      case 'a': return extend(Kind::list, top(1));                     // APPEND
      case 'e': return extend(Kind::list, above_mark());               // APPENDS
      case 's': return extend(Kind::table, top(2));                    // SETITEM
      case 'u': return extend(Kind::table, above_mark());              // SETITEMS
      case 'p': return put(decimal());                                 // PUT
      case 'q': return put(key<std::uint8_t>());                       // BINPUT
      case 'r': return put(key<std::uint32_t>());                      // LONG_BINPUT
      case 0x94: return put(static_cast<std::int64_t>(memo_.size()));  // MEMOIZE
      case 'g': return get(decimal());                                 // GET
      case 'h': return get(key<std::uint8_t>());                       // BINGET
      case 'j': return get(key<std::uint32_t>());                      // LONG_BINGET
      default: return refuse(code);
    }
  }
  Result<void> mark() {
    if (marks_.size() >= deepest_stack) return broken("its stack is too deep");
    marks_.push_back(stack_.size());
    return {};
  }
  Result<void> pop() {
    if (stack_.empty()) return broken("its stack is empty");
    stack_.pop_back();
    return {};
  }
  static Result<void> forget(Result<std::vector<Tree::Index>> items) {
    if (!items) return fail(items.error());
    return {};
  }
  template <typename T>
  Result<void> with_size() {
    const auto size = number<T>();
    if (!size) return fail(size.error());
    return push_long(*size);
  }
  [[nodiscard]] Result<void> refuse(std::uint8_t code) const {
    for (const auto& each : refused) {
      if (each.code == code) {
        return fail(ErrorCode::not_supported,
                    fmt::format("the pickle wants to run code ({}); only data is read", each.name));
      }
    }
    return broken(fmt::format("0x{:02x} is no instruction", code));
  }

  std::string_view rest_;
  const std::size_t all_;
  Tree tree_;
  std::vector<Tree::Index> stack_;
  std::vector<std::size_t> marks_;
  std::unordered_map<std::int64_t, Tree::Index> memo_;
  bool stopped_ = false;
};

}  // namespace

Result<Tree> read_pickle(std::string_view bytes) { return Machine(bytes).run(); }

}  // namespace stoker::nccl
