#pragma once
// What the program of sample 19 and its module both know.

struct ball {
    float height = 10;
    float speed = 0;
};
