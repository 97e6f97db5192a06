// Lanes that take over during a run.
#include "run/lane_pool.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "cli/option_values.hpp"
#include "io/fd.hpp"
#include "pipeline/rig.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"

namespace gpuaes {
namespace {

// Sends standard error to a file while it lives.
class CapturedMessages {
 public:
  explicit CapturedMessages(const std::string& file) : before_(dup(STDERR_FILENO)) {
    const Fd fd(open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
    dup2(fd.get(), STDERR_FILENO);
  }
  ~CapturedMessages() { dup2(before_.get(), STDERR_FILENO); }
  CapturedMessages(const CapturedMessages&) = delete;
  CapturedMessages& operator=(const CapturedMessages&) = delete;

 private:
  Fd before_;
};

// Calls `run` with the pool for this plan, and returns the messages.
template <class Run>
std::string messages_of(const LanePlan& plan, Run run, LanePool::Wrap wrap = {}) {
  const TempDir directory;
  const std::string file = directory / "messages";
  const LaneSetup setup{};
  const LanePool pool(plan, setup, std::move(wrap));
  Messages messages("program");
  messages.set_level(Messages::Level::verbose);
  {
    const CapturedMessages captured(file);
    run(pool, messages);
  }
  const Bytes said = read_file(file);
  return {reinterpret_cast<const char*>(said.data()), said.size()};
}

// The messages of a run whose plan has these later lanes.
std::string messages_of_run(std::string_view later, std::string_view instead = {}) {
  Rig rig({});
  PipeFed run(rig);
  run.pipeline.add_lane(rig.lane());
  auto ended = run.start();
  LanePlan plan;
  plan.later = parse_lanes(later).named;
  if (!instead.empty()) plan.instead = parse_lanes(instead).named;
  std::string said = messages_of(plan, [&](const LanePool& pool, const Messages& messages) {
    pool.open_more(run.pipeline, messages).join();
  });
  run.pipe.writer.close();
  CHECK(result_of(std::move(ended)) == "");
  return said;
}

// The messages of a run in which the first lanes get their input at once, and later ones in small pieces.
std::string messages_of_slow_later_lanes() {
  Rig rig({});
  PipeFed run(rig);
  run.pipeline.add_lane(rig.lane());
  auto ended = run.start();
  LanePlan plan;
  plan.first = parse_lanes("cpu:1").named;
  plan.later = parse_lanes("cpu:2").named;
  plan.instead = parse_lanes("cpu:3").named;
  plan.chunks = 4;
  plan.chunk_bytes = 64;
  std::atomic<bool> fed = false;  // one thread at a time checks
  const auto feed_first_lanes = [&](std::unique_ptr<Lane> opened) {
    if (!fed) {
      put(run.pipe.writer, test_bytes(1 << 15));
      CHECK(eventually([&] { return run.pipeline.bytes_in() == 1 << 15; }));
      fed = true;
    }
    return opened;
  };
  const auto try_later = [&](const LanePool& pool, const Messages& messages) {
    std::atomic<bool> done = false;
    const std::jthread trial([&] {
      pool.open_more(run.pipeline, messages).join();
      done = true;
    });
    while (!done) {
      if (fed) put(run.pipe.writer, test_bytes(64));
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  };
  std::string said = messages_of(plan, try_later, feed_first_lanes);
  run.pipe.writer.close();
  CHECK(result_of(std::move(ended)) == "");
  return said;
}

}  // namespace

TEST_CASE("if the first lanes cannot open, others do instead, and a message says why") {
  LanePlan plan;
  plan.first = parse_lanes("cuda:9999").named;
  plan.instead = parse_lanes("cpu:2").named;
  const std::string said = messages_of(plan, [](const LanePool& pool, const Messages& messages) {
    CHECK(pool.open_first(messages).size() == 2);
  });
  CHECK(said.starts_with("program: workers cpu:2 are used instead: "));
  CHECK((contains(said, "CUDA") || contains(said, "NVIDIA driver")));

  plan.instead.clear();
  messages_of(plan, [](const LanePool& pool, const Messages& messages) {
    CHECK(error_of<LaneError>([&] { pool.open_first(messages); }).has_value());
  });
}

TEST_CASE("joining lanes start as soon as they are open, and a device that cannot be opened is a warning") {
  Rig rig({});
  PipeFed run(rig);
  run.pipeline.add_lane(rig.lane());
  auto ended = run.start();
  LanePlan plan;
  plan.joining = parse_lanes("cpu:2+cuda:9999:1+cpu:1").named;
  const std::string said = messages_of(plan, [&](const LanePool& pool, const Messages& messages) {
    pool.open_more(run.pipeline, messages).join();
  });
  CHECK(run.pipeline.active_lanes().size() == 4);
  run.pipe.writer.close();
  CHECK(result_of(std::move(ended)) == "");
  CHECK(
      said.starts_with("program: workers cpu:2 join\nprogram: warning: cannot start workers cuda:9999:1 ("));
  CHECK(said.ends_with("); the others do their work\nprogram: workers cpu:1 join\n"));
}

TEST_CASE("later lanes take over, and a message says which") {
  CHECK(messages_of_run("cpu:1") == "program: workers cpu:1 take over\n");
  CHECK(messages_of_run("cpu:1+cpu:2") == "program: workers cpu:1+cpu:2 take over\n");
}

TEST_CASE("if later lanes are slower than the first ones were, those to use instead take over") {
  CHECK(messages_of_slow_later_lanes() ==
        "program: workers cpu:2 take over\n"
        "program: workers cpu:3 are used instead: those that took over are slower\n");
}

TEST_CASE("if later lanes cannot open, those to use instead take over, or the first ones continue") {
  const std::string stay = messages_of_run("cuda:9999"), replace = messages_of_run("cuda:9999", "cpu:3");
  CHECK(stay.starts_with("program: the workers stay as they are: "));
  CHECK(replace.starts_with("program: workers cpu:3 are used instead: "));
  for (const std::string& said : {stay, replace})
    CHECK((contains(said, "CUDA") || contains(said, "NVIDIA driver")));
}

TEST_CASE("a run that ends while later lanes are compared with the first ones keeps them") {
  Rig rig({.size = 4000});
  rig.add_lanes(1);
  LanePlan plan;
  plan.first = plan.instead = parse_lanes("cpu:1").named;
  plan.later = parse_lanes("cpu:2").named;
  const std::string said = messages_of(plan, [&](const LanePool& pool, const Messages& messages) {
    const std::jthread opener = pool.open_more(rig.pipeline, messages);
    CHECK(rig.run() == "");
  });
  CHECK_FALSE(contains(said, "instead"));
  CHECK(rig.wrong_output(4000) == "");
}

}  // namespace gpuaes
