// Device stage: any value of members.h to bytes and back. A struct is the count of its members and, of
// each, the number of its name, the length of its value and the value; a list is its count and, of each
// element, length and value.
#pragma once

#include <concepts>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "device/record/bytes.h"
#include "device/record/members.h"
#include "device/record/names.h"

namespace stoker::device::record {

// Writes structs; new names go to `names`.
class Saver {
 public:
  Saver(Out& out, NamesWritten& names) : out_(out), names_(names) {}

  void save(bool value) { out_.varint(value ? 1 : 0); }
  template <std::unsigned_integral T>
    requires(!std::same_as<T, bool>)
  void save(T value) {
    out_.varint(value);
  }
  template <std::signed_integral T>
  void save(T value) {
    out_.zigzag(value);
  }
  void save(double value) { out_.number(value); }
  void save(const std::string& value) { out_.raw(value); }
  void save(Nanoseconds value) { out_.zigzag(value.count()); }
  void save(MonotonicTime value) { save(value.since_boot); }
  void save(WallTime value) { save(value.since_epoch); }
  void save(const PciAddress& value) { out_.raw(value.sysfs()); }
  void save(GpuState value) { out_.raw(device::to_string(value)); }
  void save(SourceState value) { out_.raw(device::to_string(value)); }
  void save(LinkEnd value) { out_.raw(record::to_string(value)); }
  template <typename T>
  void save(const std::optional<T>& value) {
    out_.varint(value ? 1 : 0);
    if (value) save(*value);
  }
  template <typename T>
  void save(const std::vector<T>& list) {
    out_.varint(list.size());
    for (const T& element : list) sized(element);
  }
  template <typename Key, typename T>
  void save(const std::map<Key, T>& all) {
    out_.varint(all.size());
    for (const auto& [key, value] : all) {
      sized(key);
      sized(value);
    }
  }
  template <typename T>
    requires requires(Saver& saver, T& value) { members(saver, value); }
  void save(const T& value) {
    Out out;
    Saver inner(out, names_);
    members(inner, value);
    out_.varint(inner.count_);
    out_.raw(out.bytes());
  }

  // A member of the struct that is being saved.
  template <typename T>
  void operator()(std::string_view name, const T& value) {
    out_.varint(names_.number_of(name));
    sized(value);
    ++count_;
  }

 private:
  template <typename T>
  void sized(const T& value) {
    Out out;
    Saver(out, names_).save(value);
    out_.text(out.bytes());
  }

  Out& out_;
  NamesWritten& names_;
  std::size_t count_ = 0;
};

// Reads structs. What does not hold together makes `in` fail.
class Loader {
 public:
  Loader(In& in, const NamesRead& names) : in_(in), names_(names) {}

  void load(bool& value) { value = in_.varint() != 0; }
  template <std::unsigned_integral T>
    requires(!std::same_as<T, bool>)
  void load(T& value) {
    narrow(in_.varint(), value);
  }
  template <std::signed_integral T>
  void load(T& value) {
    narrow(in_.zigzag(), value);
  }
  void load(double& value) { value = in_.number(); }
  void load(std::string& value) { value = in_.rest(); }
  void load(Nanoseconds& value) { value = Nanoseconds(in_.zigzag()); }
  void load(MonotonicTime& value) { load(value.since_boot); }
  void load(WallTime& value) { load(value.since_epoch); }
  void load(PciAddress& value) {
    if (const auto address = PciAddress::parse(in_.rest())) {
      value = *address;
    } else {
      in_.fail();
    }
  }
  void load(GpuState& value) { value = gpu_state_of(in_.rest()); }
  void load(SourceState& value) { value = source_state_of(in_.rest()); }
  void load(LinkEnd& value) { value = link_end_of(in_.rest()); }
  template <typename T>
  void load(std::optional<T>& value) {
    value.reset();
    if (in_.varint() != 0) load(value.emplace());
  }
  template <typename T>
  void load(std::vector<T>& list) {
    list.clear();
    for (std::size_t left = in_.count(); left > 0 && in_.ok(); --left) sized(list.emplace_back());
  }
  template <typename Key, typename T>
  void load(std::map<Key, T>& all) {
    all.clear();
    for (std::size_t left = in_.count(); left > 0 && in_.ok(); --left) {
      Key key;
      sized(key);
      sized(all[key]);
    }
  }
  template <typename T>
    requires requires(Loader& loader, T& value) { members(loader, value); }
  void load(T& value) {
    std::map<std::string_view, std::string_view> found;
    for (std::size_t left = in_.count(); left > 0 && in_.ok(); --left) {
      const std::string* name = names_.find(in_.varint());
      const std::string_view bytes = in_.text();
      if (name == nullptr) return in_.fail();
      found.emplace(*name, bytes);
    }
    Loader inner(in_, names_);
    inner.found_ = &found;
    members(inner, value);
  }

  // A member of the struct that is being loaded.
  template <typename T>
  void operator()(std::string_view name, T& value) {
    const auto at = found_->find(name);
    if (at == found_->end()) return;
    In in(at->second);
    Loader(in, names_).load(value);
    if (!in.ok()) in_.fail();
  }

 private:
  template <typename T>
  void sized(T& value) {
    In in(in_.text());
    Loader(in, names_).load(value);
    if (!in.ok()) in_.fail();
  }
  template <typename Wide, typename T>
  void narrow(Wide wide, T& value) {
    if (wide < std::numeric_limits<T>::min() || wide > std::numeric_limits<T>::max()) {
      return in_.fail();
    }
    value = static_cast<T>(wide);
  }

  In& in_;
  const NamesRead& names_;
  const std::map<std::string_view, std::string_view>* found_ = nullptr;
};

}  // namespace stoker::device::record
