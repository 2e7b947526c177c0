// Analyzer stage: what the images of a workload are called.
#include <algorithm>
#include <array>

#include "lint/kubernetes/subject.h"
#include "lint/kubernetes/template_text.h"

namespace stoker::lint::kubernetes {
namespace {

// Tags under which projects publish whatever is newest.
constexpr std::array<std::string_view, 14> moving_tags = {
    "main",   "master", "dev",  "devel", "develop", "nightly", "edge",
    "stable", "canary", "head", "test",  "staging", "release", "experimental"};

struct ImageName {
  std::string_view repository;
  std::string_view tag;
  bool digest = false;
};

ImageName parts_of(std::string_view image) {
  ImageName name;
  const auto at = image.find('@');
  name.digest = at != std::string_view::npos;
  image = image.substr(0, at);
  const auto colon = image.rfind(':');
  const bool tagged =
      colon != std::string_view::npos && image.find('/', colon) == std::string_view::npos;
  name.repository = tagged ? image.substr(0, colon) : image;
  if (tagged) name.tag = image.substr(colon + 1);
  return name;
}

// A repository's name has no upper case and no blanks: https://github.com/distribution/reference
bool is_no_repository(std::string_view repository) {
  const auto path = repository.substr(std::min(repository.find('/') + 1, repository.size()));
  return path.find_first_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ <>\t") != std::string_view::npos;
}

void check_image(const Subject& subject, const Container& container) {
  const auto image = container.image.text();
  if (image.empty() || is_filled_in_later(image)) return;
  const ImageName name = parts_of(image);
  const auto say = [&](RuleId rule, std::string_view what) {
    subject.add(rule, container.image.place(),
                fmt::format("{} runs {}: {}", subject.name_of(container), image, what));
  };
  if (is_no_repository(name.repository)) {
    if (subject.evidence.purpose == Purpose::system) return;
    say(RuleId::image_placeholder, "that can't be the name of an image");
    if (name.tag.empty()) return;
  } else if (is_placeholder(image) && subject.evidence.purpose != Purpose::system) {
    say(RuleId::image_placeholder, "a note to the reader");
  }
  if (name.digest) return;
  if (name.tag.empty()) return say(RuleId::image_untagged, "no tag and no digest");
  if (name.tag == "latest" || name.tag.starts_with("latest-") || name.tag.ends_with("-latest")) {
    return say(RuleId::image_latest, "its tag moves with every release");
  }
  if (std::ranges::find(moving_tags, name.tag) != moving_tags.end() ||
      name.tag.find("nightly") != std::string_view::npos) {
    say(RuleId::image_mutable, "its tag moves");
  }
}

}  // namespace

void check_images(const Subject& subject) {
  for (const Pod& pod : subject.workload.pods) {
    for (const Container& container : pod.containers) check_image(subject, container);
  }
}

}  // namespace stoker::lint::kubernetes
