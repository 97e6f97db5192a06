// The exact output of a report, and when it is written.
#include "bench/report.hpp"

#include <csignal>
#include <limits>
#include <memory>
#include <string>

#include "base/error.hpp"
#include "support/bytes_io.hpp"
#include "support/catch.hpp"

using namespace gpuaes;

namespace {

std::vector<Column> columns() {
  return {{"name", 6}, {"bytes", 8}, {"gb_per_s", 0}};
}

struct Rig {
  explicit Rig(ReportForm form) : report(cancel, form, columns(), std::make_unique<TextSink>(written)) {}
  Written written;
  Cancel cancel;
  Report report;
};

}  // namespace

TEST_CASE("text is right-aligned, except for the first column") {
  Rig rig(ReportForm::text);
  rig.report.add({"a", 1024u, 2.25});
  rig.report.add({"a name that is too long", std::size_t{1} << 40, {}});
  rig.report.add({"c", 1, 1234.5678});
  rig.report.finish();
  CHECK(rig.written.text ==
        "name       bytes  gb_per_s\n"
        "a           1024      2.25\n"
        "a name that is too long  1099511627776         -\n"
        "c              1      1235\n");
  CHECK(rig.written.finished);
}

TEST_CASE("CSV quotes cells if necessary, and a value that was not measured is empty") {
  Rig rig(ReportForm::csv);
  rig.report.add({"plain", 1, 1.5});
  rig.report.add({"a,b", -2, 1e-9});
  rig.report.add({"say \"no\"", {}, 123456789.0});
  rig.report.add({"two\nlines", 0, std::numeric_limits<double>::infinity()});
  rig.report.finish();
  CHECK(rig.written.text ==
        "name,bytes,gb_per_s\n"
        "plain,1,1.5\n"
        "\"a,b\",-2,1e-09\n"
        "\"say \"\"no\"\"\",,1.23457e+08\n"
        "\"two\nlines\",0,\n");
}

TEST_CASE("a request to stop takes effect after the current row, and the table is complete") {
  Written written;
  {
    Cancel cancel;
    Report report(cancel, ReportForm::csv, columns(), std::make_unique<TextSink>(written));
    report.add({"a", 1, 2.0});
    cancel.request(SIGINT);
    bool cancelled = false;
    try {
      report.add({"b", 1, 2.0});
    } catch (const Cancelled& stop) {
      cancelled = stop.signal == SIGINT;
    }
    CHECK(cancelled);
  }
  CHECK(written.finished);
  CHECK(written.text == "name,bytes,gb_per_s\na,1,2\nb,1,2\n");
}

TEST_CASE("an error while writing a table is reported once") {
  Written written;
  written.room = std::string("name,bytes,gb_per_s\n").size();
  Cancel cancel;
  Report report(cancel, ReportForm::csv, columns(), std::make_unique<TextSink>(written));
  CHECK_THROWS_AS(report.add({"a", 1, 2.0}), IoError);
  CHECK_NOTHROW(report.finish());
  CHECK(written.text == "name,bytes,gb_per_s\n");
}
