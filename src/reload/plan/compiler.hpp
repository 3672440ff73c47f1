#pragma once
// Compiles pairs of types to programs, and writes a row of the table for each field that changes.

#include "reload/plan/kinds.hpp"
#include "reload/plan/paths.hpp"

BRAID_NAMESPACE_BEGIN
namespace reload::detail {

class compiler {
public:
    compiler(const type_graph& before, const type_graph& after, const type_notes& notes, bool reach,
             migration_plan& out)
        : before_(before),
          after_(after),
          notes_(notes),
          reach_(reach),
          out_(out),
          alike_(before, after, notes) {}

    /// The program from objects of type `a` to objects of type `b`.
    std::uint32_t program_of(type_id a, type_id b);
    /// Compiles what only pointers have led to, and writes `refused` and `moves`.
    void finish();

private:
    /// Where a value stands in the objects that a program is about, and what rows call it.
    struct place {
        std::uint64_t from = 0, to = 0;
        std::string type = {}, field = {};
        bool constructed = false;  // the new object was made by a constructor
        /// Parts of the new object that fields around this place fill by a path.
        std::vector<member> filled = {};
    };
    using steps = std::vector<operation>;
    /// A field of old objects that has no parts, by its path, and where it is in new ones.
    struct leaf {
        std::string from = {};
        member to = {};
    };

    void value(type_id a, type_id b, const place& at, steps& out);
    void number(const scalar& from, const scalar& to, const place& at, steps& out);
    void enumeration(type_id a, type_id b, const place& at, steps& out);
    void pointer(type_id a, type_id b, const place& at, steps& out);
    void array(type_id a, type_id b, const place& at, steps& out);
    void record(type_id a, type_id b, const place& at, steps& out);
    bool known_container(type_id a, type_id b, const place& at, steps& out);
    void elements(type_id a, type_id b, action what, const place& at, steps& out);
    void alike_record(type_id a, type_id b, const place& at, steps& out);
    void changed_record(type_id a, type_id b, const place& at, steps& out);
    bool by_mover(type_id a, type_id b, const place& at, steps& out);
    bool make_first(type_id a, type_id b, place& at, steps& out);
    void member_pair(const member& m, const member& n, const place& at, steps& out);

    void pieces(type_id a, type_id b, program& own);
    void drop(const type_graph& in, type_id a, std::uint64_t from, steps& out,
              const std::vector<member>& but = {});
    std::uint32_t drop_program(const type_graph& in, type_id a);
    void blank(type_id b, std::uint64_t to, const place& at, steps& out);
    void clear(type_id a, type_id b, std::vector<member> filled_too, steps& filled, steps& added);
    std::uint32_t add_program(const std::string& name, steps own);

    std::vector<const type_notes::rename*> lines_about(type_id b) const;
    const type_notes::rename* said_of(type_id a, type_id b, const member& m);
    std::optional<member> renamed(type_id a, type_id b, const member& m);
    void leaf_of(const member& m, const member& n, const leaf& around, std::vector<leaf>& out);
    void leaves(type_id a, type_id b, const leaf& around, std::vector<leaf>& out);
    void add_leaves(const member& m, const member& n, place& at);

    bool is_like(const member& m, const member& n) const;
    void compare_members(type_id a, type_id b);
    void known_row(const member& m, const member& n, const std::string& type);
    void added_rows(type_id a, type_id b, const member& within, const std::vector<member>& old,
                    std::vector<const member*>& gone);
    void ask(type_id a, type_id b, const member& m, const std::vector<std::string>& places);
    void ask_for_paths(type_id a, type_id b, std::vector<const member*>& gone);
    void find_places(const member& wanted, const member& within, int depth,
                     const std::vector<member>& taken, std::vector<std::string>& out);
    void check_lines(type_id a, type_id b, const std::vector<const member*>& gone);
    void check_places(type_id a, type_id b);
    void refuse(const place& at, const std::string& why, bool always = false);
    void row(const std::string& type, const std::string& field, fate what, std::string text);
    std::uint32_t name_index(const place& at);
    std::uint32_t record_index(const std::string& type);

    const type_graph& before_;
    const type_graph& after_;
    const type_notes& notes_;
    const bool reach_;
    migration_plan& out_;
    likeness alike_;
    std::map<std::pair<type_id, type_id>, std::uint32_t> programs_;
    std::map<std::pair<const type_graph*, type_id>, std::uint32_t> drops_;
    std::vector<std::pair<type_id, type_id>> reached_;
    std::vector<std::string> always_;  // refused, although nothing moves
};

}  // namespace reload::detail
BRAID_NAMESPACE_END
