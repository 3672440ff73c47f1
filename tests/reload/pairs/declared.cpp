// A type that is only declared is never "the same".
// refused: hidden is only declared in the debug information
struct hidden;
struct state {
    hidden* at;
};
[[gnu::used]] state the_state;
