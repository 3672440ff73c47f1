// Files that are no whole module: every way in which a file can be cut, filled up, changed, or be
// something else. None of them is loaded.
#include "reload/check/check.hpp"
#include "reload/image/flags.hpp"
#include "reload/stamp/stamp.hpp"
#include "reload_test.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>

namespace braid_test {
namespace {

namespace detail = braid::reload::detail;

std::string refusal(std::span<const std::byte> file, const std::optional<std::string>& stamp = {}) {
    detail::checked_module found;
    detail::host_side host;
    host.compare_types = false;
    const braid::status went = detail::check_module(file, stamp, host, found);
    return went ? "" : went.text;
}

std::string stamp_of(const bytes& file) {
    detail::image parsed;
    EXPECT_TRUE(detail::image::read(file, parsed));
    return detail::text_of(detail::stamp_of(file, parsed));
}

/// Each linker ends its files in another way.
std::vector<std::string> modules_of_all_linkers() {
    std::vector<std::string> names = {"game_1"};
    for (const char* linker : {"gold", "lld", "mold"}) {
        const std::string name = std::string("game_") + linker;
        if (fs::exists(built(name))) names.push_back(name);
    }
    return names;
}

TEST(ReloadDamage, AWholeModulePasses) {
    for (const std::string& name : modules_of_all_linkers()) {
        const bytes file = read(built(name));
        EXPECT_EQ(refusal(file), "") << name;
        EXPECT_EQ(refusal(file, stamp_of(file)), "") << name;
    }
}

/// Sanitizers look at one size in seven, which still ends at each byte of a word.
constexpr std::size_t next_size = sanitized ? 7 : 1;

TEST(ReloadDamage, EveryPrefixIsRefused) {
    for (const std::string& name : modules_of_all_linkers()) {
        const bytes file = read(built(name));
        for (std::size_t size = 0; size < file.size(); size += next_size) {
            // A copy of its own, so that a sanitizer sees a read behind the end.
            const bytes prefix(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size));
            ASSERT_NE(refusal(prefix), "") << name << ": " << size << " of " << file.size();
        }
    }
}

TEST(ReloadDamage, EveryPrefixFilledUpWithZerosIsRefusedByTheStamp) {
    for (const std::string& name : modules_of_all_linkers()) {
        const bytes file = read(built(name));
        const std::string stamp = stamp_of(file);
        bytes filled(file.size());
        for (std::size_t size = 0; size < file.size(); size += next_size) {
            std::copy_n(file.begin(), size, filled.begin());
            if (filled == file) break;
            ASSERT_NE(refusal(filled, stamp), "") << name << ": " << size << " of " << file.size();
        }
    }
}

TEST(ReloadDamage, OneFlippedByteInEachSectionIsRefusedByTheStamp) {
    const bytes file = read(built("game_1"));
    const std::string stamp = stamp_of(file);
    detail::image parsed;
    ASSERT_TRUE(detail::image::read(file, parsed));
    for (const detail::section& s : parsed.sections()) {
        if (parsed.bytes_of(s).empty()) continue;
        // The first byte, one in the middle, the last one.
        for (const std::uint64_t at : {s.offset, s.offset + s.size / 2, s.offset + s.size - 1}) {
            bytes changed = file;
            changed[at] ^= std::byte{0x10};
            EXPECT_NE(refusal(changed, stamp), "") << s.name << ", byte " << at;
        }
    }
}

TEST(ReloadDamage, AFlippedByteInTheBuildIdIsRefusedByTheStamp) {
    bytes file = read(built("game_1"));
    const std::string stamp = stamp_of(file);
    detail::image parsed;
    ASSERT_TRUE(detail::image::read(file, parsed));
    file[parsed.build_id_offset() + 3] ^= std::byte{1};
    EXPECT_NE(refusal(file, stamp).find("not those that were stamped"), std::string::npos);
    EXPECT_EQ(refusal(file), "") << "nothing else shows it";
}

TEST(ReloadDamage, AStampOfAnotherBuildSaysNothing) {
    EXPECT_EQ(refusal(read(built("game_2")), stamp_of(read(built("game_1")))), "");
    EXPECT_NE(refusal(read(built("game_1")), "no stamp"), "");
}

/// The sentence about the module with this change of its header.
template <class F>
std::string with_header(const F& change) {
    bytes file = read(built("game_1"));
    Elf64_Ehdr header;
    std::memcpy(&header, file.data(), sizeof header);
    change(header);
    std::memcpy(file.data(), &header, sizeof header);
    return refusal(file);
}

TEST(ReloadDamage, FilesForOtherMachinesAreNamed) {
    EXPECT_NE(with_header([](Elf64_Ehdr& h) { h.e_machine = EM_S390; }).find("another machine"),
              std::string::npos);
    EXPECT_NE(with_header([](Elf64_Ehdr& h) { h.e_ident[EI_CLASS] = ELFCLASS32; }).find("32-bit"),
              std::string::npos);
    EXPECT_NE(with_header([](Elf64_Ehdr& h) {
                  h.e_ident[EI_DATA] = ELFDATA2MSB;
              }).find("another order of bytes"),
              std::string::npos);
    EXPECT_NE(with_header([](Elf64_Ehdr& h) { h.e_type = ET_EXEC; }).find("an executable"),
              std::string::npos);
    EXPECT_NE(with_header([](Elf64_Ehdr& h) { h.e_type = ET_REL; }).find("an object file"),
              std::string::npos);
    EXPECT_NE(refusal(read("/proc/self/exe")).find("an executable"), std::string::npos);
}

TEST(ReloadDamage, NumbersInTheHeaderThatLeadOutOfTheFileAreRefused) {
    for (const std::uint64_t bad :
         {std::uint64_t{0}, UINT64_MAX, UINT64_MAX - 63, std::uint64_t{1} << 40}) {
        EXPECT_NE(with_header([bad](Elf64_Ehdr& h) { h.e_shoff = bad; }), "") << bad;
        EXPECT_NE(with_header([bad](Elf64_Ehdr& h) { h.e_phoff = bad; }), "") << bad;
    }
    EXPECT_NE(with_header([](Elf64_Ehdr& h) { h.e_shnum = 0xff00; }), "");
    EXPECT_NE(with_header([](Elf64_Ehdr& h) { h.e_shnum = 0; }), "");
    EXPECT_NE(with_header([](Elf64_Ehdr& h) { h.e_phnum = 0xff00; }), "");
    EXPECT_NE(with_header([](Elf64_Ehdr& h) { h.e_shstrndx = 0; }), "");
    EXPECT_NE(with_header([](Elf64_Ehdr& h) { h.e_shentsize = 1; }), "");
}

TEST(ReloadDamage, AnyWordChangedDoesNoHarm) {
    // What remains is loaded or refused; nothing is read outside of the file.
    const bytes file = read(built("game_1"));
    bytes changed = file;
    int refused = 0;
    for (std::size_t at = 0; at + 8 <= file.size(); at += 8) {
        for (const int fill : {0, 0x7f, 0xff}) {
            std::memset(changed.data() + at, fill, 8);
            refused += refusal(changed) != "";
            std::memcpy(changed.data() + at, file.data() + at, 8);
        }
    }
    EXPECT_GT(refused, 100);
}

struct without {
    const char* module;
    const char* flag;
};
class ReloadFlags : public testing::TestWithParam<without> {};

TEST_P(ReloadFlags, AreNamedWhenTheirTraceIsMissing) {
    const bytes file = read(built(GetParam().module));
    detail::image parsed;
    ASSERT_TRUE(detail::image::read(file, parsed));
    const std::vector<detail::missing_flag> missing = detail::missing_flags(parsed);
    ASSERT_GE(missing.size(), 1u);
    EXPECT_NE(std::string(missing[0].flag).find(GetParam().flag), std::string::npos)
        << missing[0].flag << ": " << missing[0].because;
}

std::vector<without> flags() {
    return {{"game_no_id", "--build-id"},
#if !defined(__clang__)  // which makes no unique symbols
            {"game_unique", "-fno-gnu-unique"},
#endif
            {"game_not_bound", "-Bsymbolic"},      {"game_no_debug", "-g"},
            {"game_shows", "-fvisibility=hidden"}, {"empty", "export.hpp"}};
}
INSTANTIATE_TEST_SUITE_P(Each, ReloadFlags, testing::ValuesIn(flags()),
                         [](const auto& one) { return std::string(one.param.module); });

TEST(ReloadFlagsOfAll, AWellBuiltModuleMissesNone) {
    for (const std::string& name : modules_of_all_linkers()) {
        const bytes file = read(built(name));
        detail::image parsed;
        ASSERT_TRUE(detail::image::read(file, parsed));
        for (const auto& one : detail::missing_flags(parsed)) {
            ADD_FAILURE() << name << ": " << one.flag << ": " << one.because;
        }
    }
}

TEST(ReloadExports, AreReadFromTheFileAsTheCodeShowsThem) {
    const bytes file = read(built("game_1"));
    detail::image parsed;
    ASSERT_TRUE(detail::image::read(file, parsed));
    std::vector<detail::exported> all;
    ASSERT_TRUE(detail::read_exports(parsed, all));
    ASSERT_EQ(all.size(), 4u);
    const detail::exported* const simulate = detail::find(all, "simulate");
    ASSERT_NE(simulate, nullptr);
    EXPECT_EQ(simulate->type.mangled, typeid(int(world::game&, const world::input&)).name());
    EXPECT_EQ(simulate->type.text, "int(world::game&, const world::input&)");
}

TEST(ReloadExports, WhatTheHostCallsIsMissedBeforeAnythingIsLoaded) {
    detail::host_side host;
    host.compare_types = false;
    detail::checked_module found;
    const bytes file = read(built("game_1"));
    const std::string sum = typeid(int(int, int)).name();
    host.functions = {{"add", {"int(int, int)", sum}}};
    EXPECT_TRUE(detail::check_module(file, {}, host, found));
    host.functions.push_back({"subtract", {"int(int, int)", sum}});
    const braid::status went = detail::check_module(file, {}, host, found);
    EXPECT_EQ(went.text, "does not export 'subtract'");
}

TEST(ReloadExports, BothCompilersSpellingsOfASignatureAreOne) {
    EXPECT_EQ(detail::type_in("f() [with T = void(const long unsigned int*, a::b<c<d> >&)]"),
              detail::type_in("f() [T = void (const long unsigned int *, a::b<c<d>> &)]"));
    EXPECT_EQ((detail::signature{"int", "i"}), (detail::signature{"signed int", "i"}));
    EXPECT_NE((detail::signature{"int", "i"}), (detail::signature{"int", "j"}));
    EXPECT_EQ((detail::signature{"int", ""}), (detail::signature{"int", "i"}));
}

}  // namespace
}  // namespace braid_test
