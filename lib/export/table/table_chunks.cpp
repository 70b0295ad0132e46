#include "export/table/table_chunks.hpp"

#include <memory>
#include <span>
#include <utility>

#include "base/parallel.hpp"
#include "export/ordered_chunks.hpp"

namespace msprof {

namespace {

// Passes on the rows of a chunk, until its turn in blocks.
class ChunkSink : public RowSink {
 public:
  ChunkSink(OrderedChunks& chunks, std::size_t chunk, RowSink& sink)
      : chunks_(chunks),
        chunk_(chunk),
        sink_(sink),
        block_(sink.make_block()),
        has_turn_(chunks.has_turn(chunk)) {}

  void begin(std::span<const std::string>) override {}
  bool reads(std::size_t column) const override { return sink_.reads(column); }
  void row(std::span<const Cell> cells) override {
    if (has_turn_) return sink_.row(cells);
    block_->add(cells);
    if (block_->bytes() >= RowBlock::kFullBytes) pass_on();
  }
  void end() override {
    if (!has_turn_) pass_on();
  }

 private:
  void pass_on() {
    has_turn_ = chunks_.has_turn(chunk_);
    if (has_turn_) return block_->flush();
    const std::size_t bytes = block_->bytes();
    const std::shared_ptr<RowBlock> held = std::exchange(block_, sink_.make_block());
    chunks_.hold(chunk_, bytes, [held] { held->flush(); });
  }

  OrderedChunks& chunks_;
  std::size_t chunk_;
  RowSink& sink_;
  std::unique_ptr<RowBlock> block_;
  bool has_turn_;
};

// Per thread: most of one chunk of op_summary.
constexpr std::size_t kHeldBytes = 512 << 10;

}  // namespace

void SummaryTable::write(const Database& db, const OutputFile& output_file, RowBuilder& out) const {
  for (const TableChunk& chunk : chunks(db, output_file)) chunk(db, out);
}

std::vector<TableChunk> SummaryTable::chunks(const Database&, const OutputFile& output_file) const {
  return {
      [this, output_file](const Database& db, RowBuilder& out) { write(db, output_file, out); }};
}

void write_table(const Database& db, const SummaryTable& table, const OutputFile& output_file,
                 RowSink& sink) {
  const std::vector<TableChunk> all = table.chunks(db, output_file);
  const std::size_t threads = all.size() > 1 ? core_count(kMaxChunkThreads) : 1;
  if (threads == 1) {
    RowBuilder rows(sink);
    for (const TableChunk& write : all) write(db, rows);
    return;
  }
  OrderedChunks chunks(all.size(), threads, kHeldBytes);
  chunks.run(db, [&](const Database& own, std::size_t chunk) {
    ChunkSink part(chunks, chunk, sink);
    RowBuilder rows(part);
    all[chunk](own, rows);
    part.end();
  });
}

}  // namespace msprof
