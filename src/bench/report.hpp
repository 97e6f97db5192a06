// Results of a benchmark: a table on standard output, written row by row as they are measured.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "io/cancel.hpp"
#include "io/source_sink.hpp"
#include "process/control.hpp"
#include "terminal/messages.hpp"

namespace gpuaes {

enum class ReportForm { text, csv };  // CSV as in RFC 4180

struct Column {
  Column(const char* with_name, std::size_t width = 10) : name(with_name), text_width(width) {}

  std::string name;        // lowercase, with its unit: "gb_per_s"
  std::size_t text_width;  // in text: the minimum; at least the length of the name
};

// A value of a row. Empty if it was not measured or does not exist.
class Cell {
 public:
  Cell() = default;
  Cell(std::string_view text) : value_(std::string(text)) {}
  Cell(const std::string& text) : value_(text) {}
  Cell(const char* text) : value_(text) {}
  Cell(double number) : value_(number) {}
  Cell(std::integral auto number) : value_(static_cast<std::int64_t>(number)) {}

  // Numbers with a fraction have four significant digits in text, and six in CSV.
  std::string to_string(ReportForm form) const;

 private:
  std::variant<std::monostate, std::string, std::int64_t, double> value_;
};

class Report {
 public:
  // Writes the heading. From then on, a signal to stop the program lets the current row finish, and the table
  // stays well-formed. IoError.
  Report(Cancel& cancel, ReportForm form, std::vector<Column> columns,
         std::unique_ptr<Sink> sink = nullptr);  // null: standard output
  ~Report();                                     // closes the table, even if measuring was stopped or failed
  Report(const Report&) = delete;
  Report& operator=(const Report&) = delete;

  // Writes a row, with a cell for each column. IoError; Cancelled if the program was told to stop.
  void add(const std::vector<Cell>& row);

  // Prints a warning that something is not measured, and why.
  void skip(const std::string& text) const { messages_.warning("skipped: " + text); }

  // Closes the table. IoError.
  void finish();

  // For long work between rows: check() throws Cancelled.
  Cancel& cancel() noexcept { return cancel_; }

 private:
  std::string line(std::vector<std::string> fields) const;
  void flush();

  const ReportForm form_;
  const std::vector<Column> columns_;
  Messages messages_{"gpuaes-bench"};
  Cancel& cancel_;
  const Control control_{cancel_};
  std::unique_ptr<Sink> sink_;  // null once the table is closed or cannot be written
  std::string pending_;         // not yet written
};

// Of at least one value.
double median(std::vector<double> values);

}  // namespace gpuaes
