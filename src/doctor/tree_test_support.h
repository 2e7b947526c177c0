// Test support: a node as one text, for tests that need no folder. After a head of lines "key: value" each file begins
// with a line of its own:
//   == /path                 a file; its text follows up to the next such line
//   == /path -> target       a link
//   == /path node 195:0 0666 a character device
//   == /path denied          a file that may not be read
//   == /path gone            what `from` has is not there, and nothing below it
//   == /path disk 100 14     a file system of so many bytes, and free ones
// "\xNN" in a text is a byte. `from: other` begins with all of other.tree.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "base/text.h"
#include "doctor/node.h"

namespace stoker::doctor {

class Tree final : public Node {
 public:
  struct Entry {
    enum class Kind { file, link, device, denied } kind = Kind::file;
    std::string text;  // or where the link leads
    FileFacts facts;
  };

  // tests/doctor-trees/NAME.tree of the source folder.
  static Tree load(const std::string& name) {
    const auto path =
        std::filesystem::path(STOKER_SOURCE_DIR) / "tests/doctor-trees" / (name + ".tree");
    std::ifstream in(path, std::ios::binary);
    EXPECT_TRUE(in) << path;
    std::ostringstream text;
    text << in.rdbuf();
    return parse(text.str());
  }

  static Tree parse(const std::string& text) {
    Tree tree;
    std::istringstream in(text);
    std::string line;
    Entry* open = nullptr;
    while (std::getline(in, line)) {
      if (line.starts_with("== ")) {
        open = tree.begin_entry(line.substr(3));
      } else if (open != nullptr) {
        open->text += unescaped(line) + "\n";
      } else if (line.starts_with("from: ")) {
        tree.entries_ = load(line.substr(6)).entries_;
      } else if (const auto colon = line.find(": "); colon != std::string::npos) {
        tree.head_[line.substr(0, colon)] = line.substr(colon + 2);
      }
    }
    return tree;
  }

  [[nodiscard]] std::string head(const std::string& key) const {
    const auto found = head_.find(key);
    return found == head_.end() ? "" : found->second;
  }
  [[nodiscard]] const std::map<std::string, Entry>& entries() const { return entries_; }
  void remove(const std::string& path) { entries_.erase(path); }
  void deny(const std::string& path) { entries_[path].kind = Entry::Kind::denied; }

  [[nodiscard]] Result<std::string> text(std::string_view path, std::size_t limit) const override {
    const auto* entry = find(std::string(path));
    if (entry == nullptr) return missing(path);
    if (entry->kind == Entry::Kind::denied) return denied(path);
    if (entry->text.size() > limit) return fail(ErrorCode::corrupt, "too long");
    return entry->text;
  }
  [[nodiscard]] Result<std::string> tail(std::string_view path, std::size_t bytes) const override {
    auto whole = text(path, 1 << 26);
    if (whole && whole->size() > bytes) whole = whole->substr(whole->size() - bytes);
    return whole;
  }
  [[nodiscard]] Result<std::vector<std::string>> names(std::string_view folder) const override {
    const auto* itself = find(std::string(folder));
    if (itself != nullptr && itself->kind == Entry::Kind::denied) return denied(folder);
    const std::string start = resolved(std::string(folder)) + "/";
    std::set<std::string> names;
    for (auto at = entries_.lower_bound(start);
         at != entries_.end() && at->first.starts_with(start); ++at) {
      const auto rest = at->first.substr(start.size());
      names.insert(rest.substr(0, rest.find('/')));
    }
    if (names.empty()) return missing(folder);
    return std::vector<std::string>(names.begin(), names.end());
  }
  [[nodiscard]] Result<std::string> link(std::string_view path) const override {
    const std::string whole(path);
    const auto slash = whole.rfind('/');
    const auto found = entries_.find(resolved(whole.substr(0, slash)) + whole.substr(slash));
    if (found != entries_.end() && found->second.kind == Entry::Kind::denied) return denied(path);
    if (found == entries_.end() || found->second.kind != Entry::Kind::link) return missing(path);
    return found->second.text;
  }
  [[nodiscard]] Result<FileFacts> facts(std::string_view path) const override {
    if (const auto* entry = find(std::string(path)); entry != nullptr) {
      if (entry->kind == Entry::Kind::denied) return denied(path);
      FileFacts facts = entry->facts;
      facts.bytes = entry->text.size();
      return facts;
    }
    if (!names(path)) return missing(path);
    FileFacts folder;
    folder.kind = FileFacts::Kind::folder;
    return folder;
  }
  [[nodiscard]] Result<DiskUse> disk(std::string_view path) const override {
    const auto found = disks_.find(std::string(path));
    if (found == disks_.end()) return missing(path);
    return found->second;
  }

 private:
  static tl::unexpected<Error> missing(std::string_view path) {
    return fail(ErrorCode::not_found, std::string(path) + ": no such file");
  }
  static tl::unexpected<Error> denied(std::string_view path) {
    return fail(ErrorCode::no_permission, "open " + std::string(path) + ": Permission denied");
  }

  static std::string unescaped(const std::string& line) {
    std::string out;
    for (std::size_t n = 0; n < line.size(); ++n) {
      if (line.compare(n, 2, "\\x") == 0 && n + 3 < line.size()) {
        out += static_cast<char>(hex_digit(line[n + 2]) * 16 + hex_digit(line[n + 3]));
        n += 3;
      } else {
        out += line[n];
      }
    }
    return out;
  }

  Entry* begin_entry(const std::string& line) {
    std::istringstream words(line);
    std::string path;
    std::string kind;
    std::string value;
    std::string mode;
    words >> path >> kind >> value >> mode;
    if (kind == "gone") {
      std::erase_if(entries_, [&](const auto& each) {
        return each.first == path || each.first.starts_with(path + "/");
      });
      return nullptr;
    }
    if (kind == "disk") {
      disks_[path] = {std::stoull(value), std::stoull(mode)};
      return nullptr;
    }
    Entry entry;
    entry.facts.mode = 0644;
    if (kind == "->") {
      entry.kind = Entry::Kind::link;
      entry.text = value;
    } else if (kind == "node") {
      entry.kind = Entry::Kind::device;
      entry.facts.kind = FileFacts::Kind::device;
      entry.facts.major = static_cast<std::uint32_t>(std::stoul(value));
      entry.facts.minor = static_cast<std::uint32_t>(std::stoul(value.substr(value.find(':') + 1)));
      entry.facts.mode = static_cast<std::uint32_t>(std::stoul(mode, nullptr, 8));
    } else if (kind == "denied") {
      entry.kind = Entry::Kind::denied;
    }
    entries_[path] = entry;
    return kind.empty() ? &entries_[path] : nullptr;
  }

  // With links in the middle and at the end followed, at most 8.
  [[nodiscard]] std::string resolved(std::string path) const {
    for (int links = 0; links < 8; ++links) {
      bool changed = false;
      for (const auto& [from, entry] : entries_) {
        if (entry.kind != Entry::Kind::link) continue;
        if (path != from && !path.starts_with(from + "/")) continue;
        const std::string base =
            entry.text.starts_with('/') ? "" : from.substr(0, from.rfind('/') + 1);
        path = std::filesystem::path(base + entry.text + path.substr(from.size()))
                   .lexically_normal()
                   .string();
        changed = true;
        break;
      }
      if (!changed) break;
    }
    return path;
  }
  [[nodiscard]] const Entry* find(const std::string& path) const {
    const auto found = entries_.find(resolved(path));
    return found == entries_.end() ? nullptr : &found->second;
  }

  std::map<std::string, std::string> head_;
  std::map<std::string, Entry> entries_;
  std::map<std::string, DiskUse> disks_;
};

}  // namespace stoker::doctor
