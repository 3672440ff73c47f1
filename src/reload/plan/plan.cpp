#include "reload/plan/plan.hpp"

#include "reload/plan/compiler.hpp"
#include "reload/plan/kinds.hpp"

#include <algorithm>

BRAID_NAMESPACE_BEGIN
namespace reload::detail {
namespace {

const char* word_of(fate what) {
    switch (what) {
        case fate::same:
            return "same";
        case fate::moved:
            return "moved";
        case fate::changed:
            return "changed";
        case fate::renamed:
            return "renamed";
        case fate::resized:
            return "resized";
        case fate::added:
            return "added";
        case fate::dropped:
            return "dropped";
        case fate::refused:
            return "REFUSED";
        case fate::asked:
            break;
    }
    return "WHICH?";
}

}  // namespace

migration_plan make_plan(const type_graph& before, const type_graph& after,
                         const std::vector<std::string>& roots, const type_notes& notes,
                         bool reach) {
    migration_plan plan;
    compiler own(before, after, notes, reach, plan);
    std::vector<std::string> missing;
    for (const std::string& name : roots) {
        const type_id* const was = before.find(name);
        const std::string new_name = name_after(notes, name);
        const type_id* const is = after.find(new_name);
        if (was != nullptr && is != nullptr) {
            plan.roots.emplace(name, own.program_of(*was, *is));
            continue;
        }
        const std::string why =
            even_name(name).find("{anonymous}") != std::string::npos
                ? "is in a namespace without a name, which is another one in each build: name it"
            : was == nullptr
                ? "is not described by the debug information of the code that runs"
                : "is not described by the debug information of the new code: where it has another "
                  "name, say BRAID_RELOAD_RENAMED_TYPE(NEW, \"" +
                      name + "\")";
        plan.rows.push_back({name, "", fate::refused, why});
        missing.push_back(name + " " + why);
    }
    own.finish();
    plan.refused.insert(plan.refused.begin(), missing.begin(), missing.end());
    return plan;
}

std::string table_of(const migration_plan& plan) {
    std::size_t width = 0;
    const auto name_of = [](const plan_row& row) {
        return row.field.empty() ? row.type : row.type + "::" + row.field;
    };
    for (const plan_row& row : plan.rows) width = std::max(width, name_of(row).size());
    width = std::min<std::size_t>(width, 48);
    std::string text;
    for (const plan_row& row : plan.rows) {
        const std::string name = name_of(row), word = word_of(row.what);
        text += name + std::string(name.size() < width ? width - name.size() : 0, ' ') + "  " +
                word + std::string(9 - std::min<std::size_t>(word.size(), 8), ' ') + row.text +
                "\n";
    }
    return text;
}

}  // namespace reload::detail
BRAID_NAMESPACE_END
