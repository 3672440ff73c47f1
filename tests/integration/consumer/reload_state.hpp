#pragma once

struct counted {
    int frames = 0;
};
