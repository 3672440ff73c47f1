// type: nothing_of_that_name
// unreadable: Neither file describes a type 'nothing_of_that_name'
struct state {
    int a;
};
[[gnu::used]] state the_state;
