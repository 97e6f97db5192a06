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

#include "base/json.hpp"
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

std::string csv_line(const std::vector<std::string>& fields) {
  return fmt::format("{}\n", fmt::join(fields, ","));
}

}  // namespace

// JSON has no infinities and no NaN; here both mean that nothing was measured.
std::string Cell::to_string(ReportForm form) const {
  const std::string missing = form == ReportForm::text ? "-" : form == ReportForm::json ? "null" : "";
  if (const auto* const text = std::get_if<std::string>(&value_))
    return form == ReportForm::csv ? csv_field(*text) : form == ReportForm::json ? json_string(*text) : *text;
  if (const auto* const number = std::get_if<std::int64_t>(&value_)) return fmt::format("{}", *number);
  const auto* const number = std::get_if<double>(&value_);
  if (number == nullptr || !std::isfinite(*number)) return missing;
  if (form == ReportForm::text && std::abs(*number) >= 1000) return fmt::format("{:.0f}", *number);
  return fmt::format("{:.{}g}", *number, form == ReportForm::text ? 4 : 6);
}

Report::Report(Cancel& cancel, ReportForm form, std::vector<Column> columns, std::unique_ptr<Sink> sink)
    : form_(form), columns_(std::move(columns)), cancel_(cancel), sink_(std::move(sink)) {
  if (!sink_) sink_ = open_standard_sink(STDOUT_FILENO, cancel_);
  messages_.set_level(Messages::Level::verbose);
  std::vector<std::string> names;
  for (const Column& column : columns_) names.push_back(column.name);
  if (form_ == ReportForm::text) pending_ = text_line(names);
  if (form_ == ReportForm::csv) pending_ = csv_line(names);
  if (form_ == ReportForm::json) pending_ = std::string("[");
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
  for (std::size_t i = 0; i < row.size(); ++i) {
    const std::string name = form_ == ReportForm::json ? json_string(columns_[i].name) + ": " : "";
    fields.push_back(name + row[i].to_string(form_));
  }
  if (form_ == ReportForm::text) pending_ += text_line(fields);
  if (form_ == ReportForm::csv) pending_ += csv_line(fields);
  if (form_ == ReportForm::json)
    pending_ += fmt::format("{}\n{{{}}}", rows_ == 0 ? "" : ",", fmt::join(fields, ", "));
  ++rows_;
  flush();
  cancel_.check();
}

// The first column is aligned left, the others right.
std::string Report::text_line(std::vector<std::string> fields) const {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const std::size_t width = std::max(columns_[i].name.size(), columns_[i].text_width);
    fields[i] = i == 0 ? fmt::format("{:<{}}", fields[i], width) : fmt::format("{:>{}}", fields[i], width);
  }
  return fmt::format("{}\n", fmt::join(fields, "  "));
}

void Report::finish() {
  if (!sink_) return;
  if (form_ == ReportForm::json && !closed_) pending_ += "\n]\n";
  closed_ = true;
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
