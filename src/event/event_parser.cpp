#include "event/event_parser.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "event/cursor.h"
#include "event/lines.h"

namespace stoker::event {
namespace {

constexpr std::size_t most_remembered =
    1024;  // cards and switches of one log; a node has at most tens

// Beginnings by which a line of the kernel is told from a program's tag ("NVRM: " from "sshd: ").
constexpr std::array<std::string_view, 10> beginnings = {
    "NVRM: ",     "nvidia-nvswitch", "Xid (PCI:",
    "XID ",       "Out of memory: ", "Memory cgroup out of memory: ",
    "oom-kill:c", "NETDEV WATCHDOG", "mlx5_core ",
    "EDAC MC"};

// The length of "[ 1234.567890]" at `at`; 0: none stands there.
std::size_t kernel_stamp(std::string_view text, std::size_t at) {
  Cursor cursor(text.substr(at));
  if (!cursor.take("[")) return 0;
  cursor.skip_blanks();
  if (cursor.take_of(digits).empty() || !cursor.take(".")) return 0;
  constexpr std::size_t microseconds = 6;
  if (cursor.take_of(digits).size() != microseconds || !cursor.take("]")) return 0;
  return text.size() - at - cursor.rest().size();
}

// Where the next record begins that ran into this one: behind a line break, at a kernel's stamp inside a line
// of the kernel, or at the driver's name inside a line of the driver. npos: nowhere.
struct Cut {
  std::size_t end = std::string_view::npos;
  std::size_t next = std::string_view::npos;
};

Cut next_cut(std::string_view text, bool kernel) {
  Cut cut;
  if (const auto line = text.find('\n'); line != std::string_view::npos) {
    cut = {.end = line, .next = line + 1};
  }
  if (text.starts_with("NVRM: ")) {
    const auto again = text.find("NVRM: ", 1);
    if (again < cut.end) cut = {.end = again, .next = again};
  }
  if (!kernel) return cut;
  for (auto at = text.find('[', 1); at < cut.end; at = text.find('[', at + 1)) {
    if (const auto length = kernel_stamp(text, at)) return {.end = at, .next = at + length};
  }
  return cut;
}

}  // namespace

void add_detail(Event& event, std::string_view name, std::string_view value) {
  if (value.empty()) return;
  event.details.push_back({std::string(name), std::string(value)});
}

std::optional<PciAddress> leading_pci(std::string_view text) {
  auto word = text.substr(0, text.find_first_of(" \n"));
  while (word.ends_with(':') || word.ends_with('.')) word.remove_suffix(1);
  if (std::ranges::count(word, ':') < 2) return std::nullopt;
  const auto pci = PciAddress::parse(word);
  return pci ? std::optional(*pci) : std::nullopt;
}

bool begins_kernel_line(std::string_view text) {
  if (std::ranges::any_of(beginnings, [&](auto each) { return text.starts_with(each); }))
    return true;
  // "<driver> 0000:3b:00.0: ..."
  const auto blank = text.find(' ');
  return blank != std::string_view::npos && blank > 0 && text[blank - 1] != ':' &&
         leading_pci(text.substr(blank + 1)).has_value();
}

void EventParser::read(const Said& said, std::vector<Event>& out) {
  std::string_view text = said.text;
  while (!text.empty()) {
    const Cut cut = next_cut(text, said.kernel);
    read_segment(trimmed(text.substr(0, cut.end), " \t\r"), said, out);
    if (cut.next == std::string_view::npos) return;
    text.remove_prefix(cut.next);
    text = text.substr(std::min(text.find_first_not_of(' '), text.size()));
  }
}

void EventParser::read_segment(std::string_view text, const Said& said, std::vector<Event>& out) {
  if (!said.program.empty() && said.program != "kernel") {
    if (auto event = read_service(text, said.program)) out.push_back(*std::move(event));
    return;
  }
  using Reader = std::optional<Event> (*)(std::string_view);
  std::optional<Event> event = driver_line(text);
  if (!event) event = switch_line(text);
  if (!event) event = oom_line(text);
  for (const Reader reader : {&read_bus, &read_nic}) {
    if (!event) event = reader(text);
  }
  if (!event) return;
  add_card(*event);
  out.push_back(*std::move(event));
}

std::optional<Event> EventParser::driver_line(std::string_view text) {
  if (remember_card(text)) return std::nullopt;
  if (auto event = read_xid(text)) return event;
  auto event = read_nvrm(text);
  if (event && !event->pci && text.find("not responding to commands") != std::string_view::npos) {
    event->pci = missing_;
    missing_.reset();
  }
  return event;
}

// "NVRM: GPU at PCI:0000:00:06: GPU-....", "NVRM: GPU Board Serial Number: ...", once before a card's first
// Xid; "NVRM: The NVIDIA GPU 0000:b3:00.0" begins the driver's message about a card that does not answer.
bool EventParser::remember_card(std::string_view text) {
  Cursor cursor(text);
  if (!cursor.take("NVRM: ")) return false;
  if (cursor.take("The NVIDIA GPU ")) {
    missing_ = leading_pci(cursor.rest());
    return cursor.rest().find("fallen off the bus") == std::string_view::npos;
  }
  if (cursor.take("GPU Board Serial Number: ")) {
    if (last_card_) cards_[*last_card_].serial = trimmed(cursor.rest());
    return true;
  }
  if (!cursor.take("GPU at ")) return false;
  const auto pci = leading_pci(cursor.rest());
  const auto uuid = cursor.rest().find(": GPU-");
  if (!pci || uuid == std::string_view::npos) return false;
  if (cards_.size() >= most_remembered) cards_.clear();
  cards_[*pci] = {.uuid = std::string(trimmed(cursor.rest().substr(uuid + 2))), .serial = {}};
  last_card_ = pci;
  return true;
}

void EventParser::add_card(Event& event) const {
  if (!event.pci || event.kind == EventKind::sxid) return;
  PciAddress address = *event.pci;
  address.function = 0;
  const auto card = cards_.find(address);
  if (card == cards_.end()) return;
  add_detail(event, "uuid", card->second.uuid);
  add_detail(event, "serial", card->second.serial);
}

std::optional<Event> EventParser::switch_line(std::string_view text) {
  auto event = read_sxid(text);
  if (!event || !event->code) return event;
  const auto last = last_sxid_.find(*event->pci);
  const bool known = last != last_sxid_.end() && last->second == *event->code;
  if (known && !detail(*event, "continuation").empty()) return std::nullopt;
  if (last_sxid_.size() >= most_remembered) last_sxid_.clear();
  last_sxid_[*event->pci] = *event->code;
  return event;
}

// "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),...,oom_memcg=/a,task_memcg=/a/b,task=x,pid=1,uid=0"
std::optional<Event> EventParser::oom_line(std::string_view text) {
  Cursor cursor(text);
  if (cursor.take("oom-kill:constraint=")) {
    kill_.reset();
    const auto pid = number_behind<std::uint32_t>(text, ",pid=");
    if (!pid) return std::nullopt;
    kill_ = Kill{.pid = *pid,
                 .constraint = std::string(cursor.rest().substr(0, cursor.rest().find(','))),
                 .cgroup = {}};
    if (auto cgroup = behind(text, "oom_memcg=")) {
      kill_->cgroup = cgroup->rest().substr(0, cgroup->rest().find(",task_memcg="));
    }
    return std::nullopt;
  }
  auto event = read_oom(text);
  if (event && kill_ && kill_->pid == event->pid) {
    add_detail(*event, "constraint", kill_->constraint);
    add_detail(*event, "cgroup", kill_->cgroup);
    kill_.reset();
  }
  return event;
}

}  // namespace stoker::event
