// What pages see of a program that runs, and that the program never waits for them.
#include "braid/braid.hpp"
#include "braid/profile/sinks.hpp"
#include "live_fixture.hpp"
#include "scratch_folder.hpp"

#include <filesystem>

namespace {

using live::Live;
using live::seen;
using live::source;
namespace profile = braid::profile;

/// One that is let in, and has read nothing yet.
web::socket silent(std::uint16_t port, const std::string& token) {
    web::socket one(port);
    EXPECT_EQ(one.status(), 101) << one.head();
    one.send(token);
    return one;
}

TEST_F(Live, ShowsARunOfASchedulerFromItsBeginToItsEnd) {
    begin();
    web::socket page = page_of();
    profile::recorder recorder;
    {
        braid::scheduler s({.workers = 2, .observer = &recorder});
        ASSERT_TRUE(recorder.start(*view_));
        for (int i = 0; i < 100; ++i) s.wait(s.spawn({.name = "task"}, [] {}));
    }
    ASSERT_TRUE(recorder.stop());
    const seen all = live::read_to_end(page);
    EXPECT_EQ(all.close_code, 1000);
    const profile::capture c = all.read();
    EXPECT_TRUE(c.whole);
    EXPECT_NE(live::count_of(c), 0U);
}

TEST_F(Live, GivesAnEarlyPageEveryByte) {
    begin();
    web::socket page = page_of();
    source from(*view_);
    from.begin();
    from.lane(0, "a");
    for (int i = 0; i < 100; ++i) from.records(0, 50);
    from.end();
    const seen all = live::read_to_end(page);
    EXPECT_EQ(all.bytes.size(), from.bytes());
    EXPECT_EQ(all.lost, 0U);
    EXPECT_GE(all.times, 1U);
    EXPECT_EQ(live::count_of(all.read()), 5000U);
    EXPECT_EQ(view_->statistics().taken, from.bytes());
    EXPECT_GE(view_->statistics().sent, from.bytes());
}

TEST_F(Live, GivesALatePageWhatItNeedsToReadTheRest) {
    source from(*(view_ = std::make_unique<profile::live_view>(live::page)));
    from.begin();
    from.lane(0, "before the start");
    ASSERT_TRUE(view_->start());
    from.lane(1, "after it");
    from.records(0, 1000);
    web::socket page = page_of();
    from.records(1, 10);
    from.lane(2, "while the page is there");
    from.records(0, 20);
    from.records(2, 30);
    from.end();
    seen all = live::read_to_end(page);
    all.bytes = early_.bytes + all.bytes;
    const profile::capture c = all.read();
    ASSERT_EQ(c.lanes.size(), 3U);
    EXPECT_TRUE(c.whole);
    EXPECT_EQ(c.lanes[0].name, "before the start");
    EXPECT_EQ(c.lanes[0].records.size(), 20U);
    EXPECT_EQ(c.lanes[1].records.size(), 10U);
    EXPECT_EQ(c.lanes[2].records.size(), 30U);
    EXPECT_EQ(c.types.size(), 4U);
    EXPECT_EQ(all.lost, 0U);
}

TEST_F(Live, TellsAPageAfterTheEndThatItIsOver) {
    begin();
    source from(*view_);
    from.begin();
    from.lane(0, "a");
    from.records(0, 10);
    from.end();
    web::socket page = silent(port(), token());
    const seen all = live::read_to_end(page);
    EXPECT_EQ(all.close_code, 1000);
    EXPECT_TRUE(all.read().whole);
    EXPECT_EQ(all.read().lanes.size(), 1U);
}

TEST_F(Live, GivesTwoPagesTheSame) {
    begin();
    web::socket one = page_of(), two = page_of();
    source from(*view_);
    from.begin();
    from.lane(0, "a");
    for (int i = 0; i < 200; ++i) from.records(0, 100);
    from.end();
    const seen first = live::read_to_end(one), second = live::read_to_end(two);
    EXPECT_EQ(first.bytes, second.bytes);
    EXPECT_EQ(live::count_of(first.read()), 20'000U);
}

TEST_F(Live, CutsLargeChunksIntoMessages) {
    begin();
    web::socket page = page_of();
    source from(*view_);
    from.begin();
    from.lane(0, "a");
    from.records(0, 100'000);  // 3.2 MB in one chunk
    from.end();
    const seen all = live::read_to_end(page);
    EXPECT_LE(all.largest, std::size_t{256} << 10);
    EXPECT_EQ(live::count_of(all.read()), 100'000U);
}

TEST_F(Live, NeverWaitsForAPageThatDoesNotRead) {
    constexpr std::size_t room = std::size_t{1} << 20, chunk = 1000, chunks = 1000;
    begin({.queue_bytes = room});
    web::socket page = page_of(16 << 10);
    source from(*view_);
    from.begin();
    // 32 MB, while nobody reads: far more than the queue and the system's buffers hold.
    for (std::size_t i = 0; i < chunks; ++i) {
        if (i % 100 == 0) from.lane(static_cast<std::uint32_t>(i / 100), std::to_string(i));
        from.records(static_cast<std::uint32_t>(i / 100), chunk);
    }
    from.end();
    // All of that was accepted before the page reads its first byte.
    EXPECT_EQ(from.accepted(), from.bytes());
    const profile::live_view::counts then = view_->statistics();
    EXPECT_EQ(then.taken, from.bytes());
    EXPECT_GT(then.lost, from.bytes() / 2);

    const seen all = live::read_to_end(page);
    EXPECT_EQ(all.close_code, 1000);
    EXPECT_EQ(all.lost, then.lost);
    EXPECT_EQ(all.bytes.size() + all.lost, from.bytes());
    // Whole chunks of records are missing, and nothing else.
    const profile::capture c = all.read();
    EXPECT_TRUE(c.whole);
    EXPECT_EQ(c.lanes.size(), 10U);
    EXPECT_EQ(c.types.size(), 11U);
    const std::size_t kept = live::count_of(c);
    EXPECT_EQ(kept % chunk, 0U);
    EXPECT_LT(kept, chunk * chunks / 2);
}

TEST_F(Live, OneSlowPageCostsTheOthersNothing) {
    begin({.queue_bytes = std::size_t{1} << 20});
    web::socket slow = page_of(16 << 10), quick = page_of();
    source from(*view_);
    seen all;
    from.begin();
    from.lane(0, "a");
    for (int i = 0; i < 300; ++i) {
        from.records(0, 1000);
        live::read_bytes(quick, from.bytes(), all);
    }
    EXPECT_EQ(all.lost, 0U);
    EXPECT_EQ(live::count_of(all.read()), 300'000U);
}

TEST_F(Live, AnswersAPingWithTheTimeOfTheCapture) {
    begin();
    source from(*view_);
    from.begin();
    web::socket page = page_of();
    double last = 0;
    for (const double sent : {0.0, 1.5, 123456789.25, 1e300, -3.0}) {
        std::string text = "{\"ping\": ";
        text += std::to_string(sent) + "}";
        page.send(text);
        std::string answer;
        while (!web::number_in(answer, "pong")) answer = page.receive(web::message::text).bytes;
        EXPECT_EQ(web::number_in(answer, "pong"), sent);
        const double time = web::number_in(answer, "time").value_or(0);
        EXPECT_GE(time, last);
        last = time;
    }
    EXPECT_GT(last, 0);
}

TEST_F(Live, ClosesAPageInGoodOrderWhenTheProgramEnds) {
    begin();
    source from(*view_);
    from.begin();
    from.lane(0, "a");
    web::socket one = page_of(), two = page_of();
    web::connection half(port());
    half.send("GET / HTT");
    from.records(0, 100);
    view_->stop();  // returns, whatever they do
    EXPECT_FALSE(view_->take({}));
    for (web::socket* page : {&one, &two}) {
        const seen all = live::read_to_end(*page);
        EXPECT_EQ(all.close_code, 1001);
        EXPECT_GE(all.bytes.size(), 100 * sizeof(profile::record));
    }
    EXPECT_EQ(half.receive_all(), "");
    EXPECT_THROW(web::connection{port()}, std::runtime_error);
}

TEST_F(Live, EndsAlthoughAPageDoesNotRead) {
    begin({.linger = std::chrono::milliseconds(50)});
    web::socket page = page_of(16 << 10);
    source from(*view_);
    from.begin();
    from.lane(0, "a");
    for (int i = 0; i < 300; ++i) from.records(0, 1000);
    view_.reset();
}

TEST_F(Live, EndsThePagesOfACaptureWhenAnotherOneBegins) {
    begin();
    web::socket old = page_of();
    source from(*view_);
    from.begin();
    from.lane(0, "first");
    from.begin();
    from.lane(0, "second");
    EXPECT_EQ(live::read_to_end(old).read().lanes.at(0).name, "first");
    web::socket fresh = page_of();
    from.end();
    seen all = live::read_to_end(fresh);
    all.bytes = early_.bytes + all.bytes;
    EXPECT_EQ(all.read().lanes.at(0).name, "second");
}

TEST_F(Live, AFileAndALiveViewHaveTheSame) {
    const braid_test::scratch_folder folder;
    const std::string path = (folder / "live_and_file.braid").string();
    begin();
    web::socket page = page_of();
    profile::file_sink file;
    ASSERT_TRUE(file.open(path));
    profile::fan_out both({&file, view_.get()});
    profile::recorder recorder;
    {
        braid::scheduler s({.workers = 1, .observer = &recorder});
        ASSERT_TRUE(recorder.start(both));
        for (int i = 0; i < 100; ++i) s.wait(s.spawn({.name = "task"}, [] {}));
    }
    ASSERT_TRUE(recorder.stop());
    ASSERT_TRUE(file.close());
    profile::capture kept;
    ASSERT_TRUE(profile::read_capture(path, kept));
    const profile::capture shown = live::read_to_end(page).read();
    EXPECT_TRUE(kept.whole);
    EXPECT_EQ(live::count_of(kept), live::count_of(shown));
    EXPECT_EQ(kept.types, shown.types);
}

TEST(FanOut, GoesOnWithThoseThatStillTake) {
    struct counting final : profile::capture_sink {
        explicit counting(int most) : left(most) {}
        bool take(std::span<const std::byte>) override { return ++taken < left; }
        int left, taken = 0;
    };
    counting few(2), many(100);
    profile::fan_out both({&few, &many});
    for (int i = 0; i < 10; ++i) EXPECT_TRUE(both.take({}));
    EXPECT_EQ(few.taken, 2);
    EXPECT_EQ(many.taken, 10);
    counting none(0);
    EXPECT_FALSE(profile::fan_out({&none}).take({}));
}

}  // namespace
