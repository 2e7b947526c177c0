#include "top_terminal.h"

#include <ncurses.h>
#include <unistd.h>

#include <clocale>
#include <optional>
#include <thread>

#include "base/thread_safety.h"

namespace stoker::app {
namespace {

using api::TopChoice;
using api::TopDocuments;
using api::TopStyle;

constexpr int key_wait_ms = 100;
constexpr int escape = 27;

// Asks again and again in a thread of its own, so that keys never wait for the agent.
class Asker {
 public:
  Asker(const AskForTop& ask, Nanoseconds interval)
      : thread_([this, &ask, interval](const std::stop_token& stop) { run(ask, interval, stop); }) {
  }

  TopDocuments latest() {
    const MutexLock lock(mutex_);
    return latest_;
  }
  // Asks at once where that is something else than before.
  void ask_for(const std::string& uuid, const std::string& graph) {
    {
      const MutexLock lock(mutex_);
      if (uuid == uuid_ && graph == graph_) return;
      uuid_ = uuid;
      graph_ = graph;
      asked_ = true;
    }
    wake_.notify_all();
  }

 private:
  void run(const AskForTop& ask, Nanoseconds interval, const std::stop_token& stop) {
    mutex_.lock();
    while (!stop.stop_requested()) {
      asked_ = false;
      const std::string uuid = uuid_;
      const std::string graph = graph_;
      mutex_.unlock();
      TopDocuments documents = ask(uuid, graph);
      mutex_.lock();
      latest_ = std::move(documents);
      wake_.wait_for(mutex_, stop, interval,
                     [this]() STOKER_TS(no_thread_safety_analysis) { return asked_; });
    }
    mutex_.unlock();
  }

  Mutex mutex_;
  CondVar wake_;
  TopDocuments latest_ GUARDED_BY(mutex_) = {.problem = "asking the agent ..."};
  std::string uuid_ GUARDED_BY(mutex_);
  std::string graph_ GUARDED_BY(mutex_);
  bool asked_ GUARDED_BY(mutex_) = false;
  std::jthread thread_;
};

// Curses for as long as this lives.
class Terminal {
 public:
  static bool known() {
    std::setlocale(LC_ALL, "");
    if (isatty(STDIN_FILENO) == 0 || isatty(STDOUT_FILENO) == 0) return false;
    return newterm(nullptr, stdout, stdin) != nullptr;
  }
  Terminal() {
    cbreak();
    noecho();
    keypad(stdscr, TRUE);
    curs_set(0);
    set_escdelay(50);
    timeout(key_wait_ms);
    mousemask(BUTTON1_CLICKED | BUTTON1_PRESSED, nullptr);
    if (has_colors()) {
      start_color();
      use_default_colors();
      init_pair(1, COLOR_GREEN, -1);
      init_pair(2, COLOR_YELLOW, -1);
      init_pair(3, COLOR_RED, -1);
    }
  }
  ~Terminal() { endwin(); }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  static void draw(const api::TopScreen& screen) {
    erase();
    for (std::size_t row = 0; row < screen.lines.size(); ++row) {
      move(static_cast<int>(row), 0);
      for (const api::TopSpan& span : screen.lines[row]) {
        const auto attributes = attributes_of(span.style);
        attron(attributes);
        addnstr(span.text.c_str(), static_cast<int>(span.text.size()));
        attroff(attributes);
      }
    }
    refresh();
  }

 private:
  static int attributes_of(TopStyle style) {
    const auto pair = [](short number) { return static_cast<int>(COLOR_PAIR(number)); };
    switch (style) {
      case TopStyle::title: return static_cast<int>(A_BOLD);
      case TopStyle::good: return pair(1) | static_cast<int>(A_BOLD);
      case TopStyle::warning: return pair(2) | static_cast<int>(A_BOLD);
      case TopStyle::bad: return pair(3) | static_cast<int>(A_BOLD);
      case TopStyle::dim: return static_cast<int>(A_DIM);
      case TopStyle::chosen: return static_cast<int>(A_REVERSE);
      case TopStyle::plain: break;
    }
    return static_cast<int>(A_NORMAL);
  }
};

template <typename Order>
Order next(Order order) {
  const auto count = static_cast<unsigned>(Order::count_);
  return static_cast<Order>((static_cast<unsigned>(order) + 1) % count);
}

void type_filter(int key, TopChoice& choice) {
  if (key == '\n' || key == KEY_ENTER) {
    choice.typing = false;
  } else if (key == escape) {
    choice.typing = false;
    choice.filter.clear();
  } else if (key == KEY_BACKSPACE || key == 127 || key == '\b') {
    if (!choice.filter.empty()) choice.filter.pop_back();
  } else if (key >= ' ' && key < 127 && choice.filter.size() < 32) {
    choice.filter += static_cast<char>(key);
  }
}

void take_click(const api::TopScreen& screen, TopChoice& choice) {
  MEVENT event{};
  if (getmouse(&event) != OK || event.y < 0) return;
  const auto line = static_cast<std::size_t>(event.y);
  if (line < screen.first_gpu_line || line >= screen.first_gpu_line + screen.gpu_rows) return;
  choice.row = line - screen.first_gpu_line;
}

// false: the user wants to leave.
bool take_key(int key, const api::TopScreen& screen, TopChoice& choice) {
  if (choice.typing) {
    type_filter(key, choice);
    return true;
  }
  const std::size_t last = screen.gpu_rows == 0 ? 0 : screen.gpu_rows - 1;
  const std::size_t graphs = api::top_graphs().size();
  switch (key) {
    case 'q': return false;
    case '?':
    case 'h': choice.help = !choice.help; break;
    case ' ': choice.paused = !choice.paused; break;
    case KEY_UP:
    case 'k': choice.row = std::min(choice.row, last) - (choice.row > 0 ? 1 : 0); break;
    case KEY_DOWN:
    case 'j': choice.row = std::min(choice.row + 1, last); break;
    case 'g': choice.graph = (choice.graph + 1) % graphs; break;
    case 'G': choice.graph = (choice.graph + graphs - 1) % graphs; break;
    case 's': choice.processes = next(choice.processes); break;
    case 'o': choice.gpus = next(choice.gpus); break;
    case '/': choice.typing = true; break;
    case KEY_MOUSE: take_click(screen, choice); break;
    default: break;
  }
  return true;
}

}  // namespace

bool run_top(const AskForTop& ask, Nanoseconds interval, bool unicode) {
  if (!Terminal::known()) return false;
  const Terminal terminal;
  Asker asker(ask, interval);
  TopChoice choice{.unicode = unicode};
  TopDocuments shown = asker.latest();
  while (true) {
    if (!choice.paused) shown = asker.latest();
    int height = 0;
    int width = 0;
    getmaxyx(stdscr, height, width);
    auto screen = api::top_screen(shown, choice, static_cast<std::size_t>(width),
                                  static_cast<std::size_t>(height));
    if (!screen) {
      screen = api::top_screen({.problem = screen.error().message()}, choice,
                               static_cast<std::size_t>(width), static_cast<std::size_t>(height));
    }
    Terminal::draw(*screen);
    asker.ask_for(screen->chosen_gpu, api::top_graphs().at(choice.graph));
    const int key = getch();
    if (key != ERR && !take_key(key, *screen, choice)) return true;
    if (key == ERR && std::feof(stdin) != 0) return true;
  }
}

}  // namespace stoker::app
