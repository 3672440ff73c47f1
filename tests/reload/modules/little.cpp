// A further source of a module. It has types of its own, and one that others only declare.
struct item {
    int weight = 3;
};

extern int weight_of(const item& of);
int weight_of(const item& of) { return of.weight; }

extern int weight_of_a_new_item();
int weight_of_a_new_item() { return weight_of(item()); }
