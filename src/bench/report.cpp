#include "bench/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <span>
#include <stdexcept>
#include <utility>

#include "io/fd_source_sink.hpp"

namespace gpuaes {
namespace {

// Time to close the table after a request to stop. The program must end within a second.
constexpr std::chrono::milliseconds closing_time{500};

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string field = "\"";
  for (const char c : text) field.append(c == '"' ? 2 : 1, c);
  return field + '"';
}

}  // namespace

// Infinities and NaN mean that nothing was measured.
std::string Cell::to_string(ReportForm form) const {
  const bool is_text = form == ReportForm::text;
  if (const auto* const text = std::get_if<std::string>(&value_)) return is_text ? *text : csv_field(*text);
  if (const auto* const number = std::get_if<std::int64_t>(&value_)) return fmt::format("{}", *number);
  const auto* const number = std::get_if<double>(&value_);
  if (number == nullptr || !std::isfinite(*number)) return is_text ? "-" : "";
  if (is_text && std::abs(*number) >= 1000) return fmt::format("{:.0f}", *number);
  return fmt::format("{:.{}g}", *number, is_text ? 4 : 6);
}

Report::Report(Cancel& cancel, ReportForm form, std::vector<Column> columns, std::unique_ptr<Sink> sink)
    : form_(form), columns_(std::move(columns)), cancel_(cancel), sink_(std::move(sink)) {
  if (!sink_) sink_ = open_standard_sink(STDOUT_FILENO, cancel_);
  std::vector<std::string> names;
  for (const Column& column : columns_) names.push_back(column.name);
  pending_ = line(names);
  flush();
}

Report::~Report() {
  try {
    cancel_.allow_for(closing_time);
    finish();
  } catch (...) {  // an exception in flight is more informative
  }
}

void Report::add(const std::vector<Cell>& row) {
  if (row.size() != columns_.size()) throw std::logic_error("a row needs a cell for each column");
  std::vector<std::string> fields;
  for (const Cell& cell : row) fields.push_back(cell.to_string(form_));
  pending_ += line(fields);
  flush();
  cancel_.check();
}

// In text, the first column is aligned left, the others right.
std::string Report::line(std::vector<std::string> fields) const {
  if (form_ == ReportForm::csv) return fmt::format("{}\n", fmt::join(fields, ","));
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const std::size_t width = std::max(columns_[i].name.size(), columns_[i].text_width);
    fields[i] = i == 0 ? fmt::format("{:<{}}", fields[i], width) : fmt::format("{:>{}}", fields[i], width);
  }
  return fmt::format("{}\n", fmt::join(fields, "  "));
}

void Report::finish() {
  if (!sink_) return;
  flush();
  sink_->close();
  sink_.reset();
}

// A row is shorter than PIPE_BUF, so a pipe takes a row as a whole or not at all. A row interrupted by a
// request to stop can therefore be written when the table is closed.
void Report::flush() {
  try {
    sink_->write(std::as_bytes(std::span(pending_)));
  } catch (const Error&) {
    sink_.reset();
    throw;
  }
  pending_.clear();
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

}  // namespace gpuaes
