#include "collect/model_files.hpp"

#include <map>

#include "base/error.hpp"
#include "base/folder_listing.hpp"
#include "base/log.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMaxModelFiles = 64;
constexpr std::uint64_t kMaxHashedBytes = 1'000'000'000;
constexpr std::size_t kMaxFolderEntries = 10'000;

using Sources = std::map<std::string, fs::path>;  // by displayed name

void add_folder(const fs::path& root, const fs::path& below, Sources& sources) {
  const FolderListing listing = list_folder(root / below, kMaxFolderEntries);
  if (listing.is_cut())
    log::warn("models are not recorded: {}", listing_problem(root / below, listing.error_number));
  for (const FolderEntry& entry : listing.entries) {
    const fs::path name = (below / entry.name).lexically_normal();
    const fs::path file = root / below / entry.name;
    std::error_code ignored;
    if (is_model_name(name) && fs::is_regular_file(file, ignored))
      sources.emplace(name.string(), file);
  }
}

// Adds a model, or a folder of models, that is outside the project and linked from it.
void add_link(const fs::path& root, const fs::path& link, Sources& sources) {
  std::error_code error;
  const std::string name = link.filename().string();
  if (is_model_name(link)) {
    if (fs::is_regular_file(root / link, error)) sources.emplace(link.string(), root / link);
  } else if (name == "model" || name == "models") {
    add_folder(root, link, sources);
  }
}

void add_named(const std::string& argument, const fs::path& root, const fs::path& folder,
               Sources& sources) {
  // Also handles "--model=a.om".
  const fs::path path = argument.substr(argument.find('=') + 1);
  std::error_code error;
  if (!is_model_name(path)) return;
  const fs::path whole = (path.is_absolute() ? path : folder / path).lexically_normal();
  if (!fs::is_regular_file(whole, error)) return;
  const fs::path in_project = whole.lexically_relative(root);
  const bool is_inside = !in_project.empty() && *in_project.begin() != "..";
  sources.emplace(is_inside ? in_project.string() : whole.string(), whole);
}

}  // namespace

bool is_model_name(const fs::path& path) {
  const std::string extension = lower_ascii(path.extension().string());
  return extension == ".om" || (extension == ".json" && path.parent_path().filename() == "models");
}

std::vector<ModelFile> find_model_files(const Project& project,
                                        const std::vector<std::string>& arguments) {
  Sources sources;
  for (const ProjectEntry& entry : project.entries) {
    if (entry.kind == EntryKind::file && is_model_name(entry.path))
      sources.emplace(entry.path.string(), entry.source);
    if (entry.kind == EntryKind::link) add_link(project.target.root, entry.path, sources);
  }
  if (project.entries.empty()) {
    for (const char* const folder : {"", "model", "models"})
      add_folder(project.target.root, folder, sources);
  }
  for (const std::string& argument : arguments)
    add_named(argument, project.target.root, project.target.root / project.target.working_folder,
              sources);
  std::vector<ModelFile> models;
  std::uint64_t hashed = 0;
  for (const auto& [name, source] : sources) {
    if (models.size() == kMaxModelFiles) break;
    std::error_code error;
    ModelFile model{name, fs::file_size(source, error), ""};
    if (error) continue;
    try {
      if (model.bytes <= kMaxHashedBytes - hashed) {
        model.sha256 = sha256_file(source);
        hashed += model.bytes;
      }
    } catch (const Error& failed) {
      if (failed.code() == Exit::interrupted) throw;
    }
    models.push_back(std::move(model));
  }
  return models;
}

}  // namespace msprof
