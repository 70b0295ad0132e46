#include "import/cann/stream_kind.hpp"

namespace msprof::cann {

namespace {

class StreamKind : public RawKind {
 public:
  StreamKind(CannImport& import, std::string_view name, std::string_view stem, StreamOf stream_of)
      : import_(import), name_(name), stem_(stem), stream_of_(std::move(stream_of)) {}

  std::string_view name() const override { return name_; }
  bool owns(const RawFile& file) const override {
    return import_.session.name_of(file).stem == stem_;
  }
  void import(const ImportContext&, const RawFile& file) override {
    stream_of_(import_, import_.session.part_of(file))
        .add(file, import_.session.name_of(file).is_unaging);
  }

 private:
  CannImport& import_;
  std::string_view name_;
  std::string_view stem_;
  StreamOf stream_of_;
};

}  // namespace

std::unique_ptr<RawKind> make_stream_kind(CannImport& import, std::string_view name,
                                          std::string_view stem, StreamOf stream_of) {
  return std::make_unique<StreamKind>(import, name, stem, std::move(stream_of));
}

}  // namespace msprof::cann
