// Job lists: filled without synchronisation, ordered among each other, with a sync point within.
#include <braid/braid.hpp>
#include <braid/job_list/job_list_manager.hpp>

#include <cstdio>
#include <vector>

namespace {

struct model {
    int bones = 0;
    bool visible = false;
    int vertices = 0;
};

void animate(void* data) { static_cast<model*>(data)->bones = 37; }
void cull(void* data) { static_cast<model*>(data)->visible = true; }
void skin(void* data) {
    auto& m = *static_cast<model*>(data);
    if (m.visible) m.vertices = 100 * m.bones;
}

}  // namespace

int main() {
    braid::scheduler scheduler;
    braid::job_list_manager lists(scheduler);
    lists.register_job(&animate, "animate");
    lists.register_job(&cull, "cull");
    lists.register_job(&skin, "skin");
    braid::job_list* game = lists.allocate({.name = "game", .max_jobs = 100});
    braid::job_list* render = lists.allocate({.name = "render", .max_jobs = 200, .max_syncs = 1});

    std::vector<model> models(50);
    for (int frame = 0; frame < 3; ++frame) {
        for (model& m : models) game->add(&animate, &m);
        for (model& m : models) render->add(&cull, &m);
        render->signal();
        render->synchronize();  // skin() looks at what cull() wrote
        for (model& m : models) render->add(&skin, &m);

        game->submit();
        render->submit({.after = {game}, .parallelism = braid::job_submission::cores});
        lists.wait_all();
    }
    const braid::job_list_statistics last = render->statistics();
    std::printf("%d vertices; %llu jobs in %lld us\n", models[49].vertices,
                static_cast<unsigned long long>(last.executed),
                static_cast<long long>((last.finished_at - last.started_at) / 1000));
    return models[49].vertices == 3700 && last.executed == 100 ? 0 : 1;
}
