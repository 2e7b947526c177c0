// Analyzer stage: tokens and keys that stand in a manifest.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "lint/kubernetes/subject.h"
#include "lint/kubernetes/template_text.h"

namespace stoker::lint::kubernetes {
namespace {

// Variables that hold a secret; those that end so do too.
constexpr std::array<std::string_view, 21> secret_names = {"HF_TOKEN",
                                                           "HUGGING_FACE_HUB_TOKEN",
                                                           "HUGGINGFACE_TOKEN",
                                                           "HUGGINGFACEHUB_API_TOKEN",
                                                           "HF_API_TOKEN",
                                                           "HUGGING_FACE_TOKEN",
                                                           "HUGGINGFACE_HUB_TOKEN",
                                                           "GITHUB_TOKEN",
                                                           "GITLAB_TOKEN",
                                                           "ACCESS_TOKEN",
                                                           "API_TOKEN",
                                                           "AUTH_TOKEN",
                                                           "AWS_SESSION_TOKEN",
                                                           "JUPYTER_TOKEN",
                                                           "SLACK_TOKEN",
                                                           "NGC_API_KEY",
                                                           "API_KEY",
                                                           "SECRET_KEY",
                                                           "SECRET_ACCESS_KEY",
                                                           "PASSWORD",
                                                           "NGC_CLI_API_KEY"};

bool holds_a_secret(std::string_view name) {
  return std::ranges::any_of(secret_names, [&](std::string_view secret) {
    return name.ends_with(secret) &&
           (name.size() == secret.size() || name[name.size() - secret.size() - 1] == '_');
  });
}

// What stands where a client insists on some value and nobody checks it.
bool is_no_secret(std::string_view value) {
  constexpr std::array<std::string_view, 11> words = {
      "", "EMPTY", "empty", "none", "None", "null", "fake", "dummy", "-", "na", "N/A"};
  return std::ranges::find(words, value) != words.end();
}

bool is_token_letter(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         c == '-';
}

// Words joined by dashes are a name, "sk-our-model-of-2026": a key has letters and digits at random.
bool has_random_run(std::string_view text) {
  std::size_t run = 0;
  bool digit = false;
  for (const char c : text) {
    run = c == '-' || c == '_' ? 0 : run + 1;
    digit = digit || (c >= '0' && c <= '9');
    if (run >= 16 && digit) return true;
  }
  return false;
}

// The shapes of tokens that their issuers document: https://huggingface.co/docs/hub/security-tokens,
// https://docs.github.com/authentication/keeping-your-account-and-data-secure/about-authentication-to-github
bool is_token(std::string_view word) {
  constexpr std::array<std::string_view, 5> fronts = {"hf_", "nvapi-", "ghp_", "github_pat_",
                                                      "sk-"};
  for (const auto front : fronts) {
    if (!word.starts_with(front) || word.size() < front.size() + 20) continue;
    const auto rest = word.substr(front.size());
    return std::ranges::all_of(rest, is_token_letter) && !is_placeholder(rest) &&
           (front != "sk-" || has_random_run(rest));
  }
  return false;
}

void check_variable(const Subject& subject, const Container& container, const EnvVar& variable) {
  if (!variable.value.is_scalar() || !holds_a_secret(variable.name)) return;
  const auto value = trimmed(variable.value.text());
  if (is_no_secret(value)) return;
  const auto say = [&](RuleId rule, std::string_view what) {
    subject.add(rule, variable.value.place(),
                fmt::format("{} has {} {}", subject.name_of(container), variable.name, what));
  };
  if (value.starts_with("$(")) return;
  if (value.find('$') != std::string_view::npos) {
    // What Helm writes there is not known; its values may come from anywhere.
    if (!subject.source.templated) say(RuleId::token_not_expanded, fmt::format("as {}", value));
    return;
  }
  if (is_placeholder(value)) return say(RuleId::token_placeholder, fmt::format("as {}", value));
  say(RuleId::token_literal, "in clear text");
}

// Where a word of `text`, which may hold URLs or a configuration of its own, is a token; npos: none is.
std::size_t token_in(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto* end = std::ranges::find_if_not(text.substr(at), is_token_letter);
    const auto size = static_cast<std::size_t>(end - text.begin()) - at;
    if (is_token(text.substr(at, size))) return at;
    at += size + 1;
  }
  return std::string_view::npos;
}

void check_text(const Subject& subject, yaml::View text, std::string_view name) {
  const auto at = token_in(text.text());
  if (at == std::string_view::npos) return;
  yaml::Place place = text.place();
  // Of a block, each line of the text is one of the file.
  if (text.is_block())
    place.line += static_cast<int>(std::ranges::count(text.text().substr(0, at), '\n'));
  subject.add(RuleId::token_literal, place,
              fmt::format("{} has a token in {}", subject.name(), name));
}

// Configurations that an object holds as text.
void check_texts_of(const Subject& subject) {
  for (const auto* path : {"spec.serveConfigV2", "spec.runtimeEnvYAML", "spec.entrypoint"})
    check_text(subject, subject.workload.object.at(path), std::string_view(path).substr(5));
}

}  // namespace

void check_config_map(const Subject& subject) {
  subject.workload.object.find("data").each_entry([&](yaml::View key, yaml::View value) {
    if (value.is_scalar()) check_text(subject, value, key.text());
  });
}

void check_secrets(const Subject& subject) {
  check_texts_of(subject);
  for (const Pod& pod : subject.workload.pods) {
    for (const Container& container : pod.containers) {
      for (const EnvVar& variable : container.env) check_variable(subject, container, variable);
      for (const Word& word : container.words) {
        const auto value = word.text.substr(word.text.find('=') + 1);
        if (!is_token(value)) continue;
        subject.add(RuleId::token_literal, word.from.place(),
                    fmt::format("{} has a token in its command", subject.name_of(container)));
      }
    }
  }
}

}  // namespace stoker::lint::kubernetes
