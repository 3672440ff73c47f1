// The arena in a window: orbit camera, keys, sound, and an overlay that shows who runs what.
#include "window.hpp"

#include "backends/braid_frames.hpp"
#include "overlay.hpp"

#define SDL_MAIN_HANDLED
#include <SDL.h>

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <stdexcept>

namespace arena::host {
namespace {

struct destroy {
    void operator()(SDL_Window* p) const { SDL_DestroyWindow(p); }
    void operator()(SDL_Renderer* p) const { SDL_DestroyRenderer(p); }
    void operator()(SDL_Texture* p) const { SDL_DestroyTexture(p); }
};
template <class Item>
using owned = std::unique_ptr<Item, destroy>;

struct sdl_session {
    sdl_session() {
        SDL_SetMainReady();
        if (SDL_Init(SDL_INIT_VIDEO) != 0)
            throw std::runtime_error(std::string("cannot open a window: ") + SDL_GetError() + ".");
    }
    ~sdl_session() { SDL_Quit(); }
    sdl_session(const sdl_session&) = delete;
    sdl_session& operator=(const sdl_session&) = delete;
};

/// Plays the mixer's frames; silent where there is no sound card.
class speaker {
public:
    speaker() {
        if (SDL_InitSubSystem(SDL_INIT_AUDIO) != 0) return;
        SDL_AudioSpec wish{};
        wish.freq = static_cast<int>(sample_rate);
        wish.format = AUDIO_S16SYS;
        wish.channels = 2;
        wish.samples = 1024;
        device_ = SDL_OpenAudioDevice(nullptr, 0, &wish, nullptr, 0);
        if (device_ != 0) SDL_PauseAudioDevice(device_, 0);
    }
    ~speaker() {
        if (device_ != 0) SDL_CloseAudioDevice(device_);
    }
    speaker(const speaker&) = delete;
    speaker& operator=(const speaker&) = delete;

    void play(std::span<const std::int16_t> samples) {
        // More than 0.1 s behind: drop a frame of sound instead of lagging ever further.
        if (device_ == 0 || SDL_GetQueuedAudioSize(device_) > sample_rate * 4 / 10) return;
        SDL_QueueAudio(device_, samples.data(), static_cast<Uint32>(samples.size_bytes()));
    }

private:
    SDL_AudioDeviceID device_ = 0;
};

class window {
public:
    window(const options& wish, const model_blocks& models, game_code& code)
        : wish_(wish), models_(models), code_(code) {
        window_.reset(SDL_CreateWindow("The arena - Braid", SDL_WINDOWPOS_CENTERED,
                                       SDL_WINDOWPOS_CENTERED, static_cast<int>(wish.width),
                                       static_cast<int>(wish.height), SDL_WINDOW_RESIZABLE));
        if (window_)
            screen_.reset(SDL_CreateRenderer(window_.get(), -1, SDL_RENDERER_PRESENTVSYNC));
        if (window_ && !screen_) screen_.reset(SDL_CreateRenderer(window_.get(), -1, 0));
        if (screen_)
            texture_.reset(SDL_CreateTexture(
                screen_.get(), SDL_PIXELFORMAT_RGBA32, SDL_TEXTUREACCESS_STREAMING,
                static_cast<int>(wish.width), static_cast<int>(wish.height)));
        if (!texture_)
            throw std::runtime_error(std::string("cannot open a window: ") + SDL_GetError() + ".");
        SDL_RenderSetLogicalSize(screen_.get(), static_cast<int>(wish.width),
                                 static_cast<int>(wish.height));
        build_world();
        build_backend();
        code_.try_with([this] { world_->try_frame(); });
    }

    void run() {
        std::uint64_t frame = 0;
        while (!closed_ && (wish_.frames == 0 || frame < wish_.frames)) {
            const nanoseconds start = now();
            for (SDL_Event event; SDL_PollEvent(&event);) handle(event);
            follow_code();
            run_frame();
            ++frame;
            show();
            // Without vertical sync the frame waits here for its sixtieth of a second.
            if (const nanoseconds left = 16'600'000 - (now() - start); left > 1'000'000)
                SDL_Delay(static_cast<Uint32>(left / 1'000'000));
        }
        fmt::print("{} frames in the window; the last took {:.2f} ms for {} characters on {}.\n",
                   frame, static_cast<double>(recorder_->frame_time()) * 1e-6, wish_.characters,
                   serial_ ? "serial" : fmt::format("{} workers", wish_.workers));
    }

private:
    void build_world() {
        world_.reset();  // first, so that two never need room at once
        world_ = std::make_unique<world>(wish_, models_, code_);
    }

    void build_backend() {
        world_->use_assets(
            wish_.assets->pages());  // those that are streamed end with their backend
        frames_ = nullptr;
        backend_.reset();
        lanes_ = std::make_unique<lane_numbers>();
        recorder_ = std::make_unique<recorder>(*lanes_);
        if (!serial_ && wish_.backend == "braid") {
            auto own = std::make_unique<braid_frames>(wish_.workers, wish_.frames_in);
            frames_ = own.get();
            backend_ = std::move(own);
            stream();
        } else {
            backend_ = make_backend(serial_ ? "serial" : wish_.backend, wish_.workers);
        }
    }

    void stream() {
        if (frames_ != nullptr && frames_->assets() != nullptr)
            world_->use_assets(frames_->assets()->pages());
    }

    void follow_code() {
        const code_change change = code_.at_frame_boundary();
        if (!change) return;
        print_news(change);
        overlay_.show_news(change);
        world_->follow_code();
    }

    void run_frame() {
        const game_api& api = world_->api();
        if (!dragged_) input_.camera_yaw += 0.001f;
        api.begin_frame(world_->state(), input_);
        recorder_->begin_frame();
        backend_->run_frame(api.stages, world_->state(), *recorder_);
        recorder_->end_frame();
        speaker_.play(world_->samples());
        overlay_.paint(world_->picture(), api.stages, *recorder_,
                       {serial_ ? "serial" : wish_.backend, serial_ ? 0 : wish_.workers,
                        wish_.characters, backend_->waiting(), pages()});
    }

    pages_seen pages() const {
        const streamed_assets* const assets = frames_ != nullptr ? frames_->assets() : nullptr;
        if (assets == nullptr) return {};
        const braid::page_cache_statistics all = assets->statistics();
        pages_seen seen{.count = assets->pack_size(),
                        .resident = {},
                        .bytes = all.resident_bytes,
                        .read_bytes = all.bytes,
                        .stalls = all.late};
        for (std::uint32_t page = 0; page < seen.count; ++page) {
            if (assets->is_resident(page)) seen.resident.push_back(page);
        }
        return seen;
    }

    void show() {
        const auto pixels = world_->picture().pixels();
        SDL_UpdateTexture(texture_.get(), nullptr, pixels.data(),
                          static_cast<int>(wish_.width) * 4);
        SDL_RenderClear(screen_.get());
        SDL_RenderCopy(screen_.get(), texture_.get(), nullptr, nullptr);
        SDL_RenderPresent(screen_.get());
    }

    void handle(const SDL_Event& event) {
        if (event.type == SDL_QUIT) closed_ = true;
        if (event.type == SDL_KEYDOWN) press(event.key.keysym.sym);
        if (event.type == SDL_MOUSEMOTION && (event.motion.state & SDL_BUTTON_LMASK) != 0)
            orbit(static_cast<float>(-event.motion.xrel) * 0.006f,
                  static_cast<float>(event.motion.yrel) * 0.004f);
        if (event.type == SDL_MOUSEWHEEL) zoom(std::exp(-0.1f * static_cast<float>(event.wheel.y)));
    }

    void press(SDL_Keycode key) {
        if (key >= SDLK_0 && key <= SDLK_8) {
            wish_.workers = static_cast<unsigned>(key - SDLK_0);
            serial_ = false;
            build_backend();
        }
        switch (key) {
            case SDLK_s:
                serial_ = !serial_;
                build_backend();
                break;
            case SDLK_PLUS:
            case SDLK_EQUALS:
            case SDLK_KP_PLUS:
                resize_crowd(wish_.characters + 100);
                break;
            case SDLK_MINUS:
            case SDLK_KP_MINUS:
                resize_crowd(wish_.characters > 100 ? wish_.characters - 100 : 1);
                break;
            case SDLK_LEFT:
                orbit(-0.05f, 0);
                break;
            case SDLK_RIGHT:
                orbit(0.05f, 0);
                break;
            case SDLK_UP:
                orbit(0, 0.03f);
                break;
            case SDLK_DOWN:
                orbit(0, -0.03f);
                break;
            case SDLK_PAGEUP:
                zoom(0.93f);
                break;
            case SDLK_PAGEDOWN:
                zoom(1.07f);
                break;
            case SDLK_ESCAPE:
            case SDLK_q:
                closed_ = true;
                break;
            default:
                break;
        }
    }

    // The crowd starts anew: its size is part of what the platform lends the game.
    void resize_crowd(std::uint32_t characters) {
        wish_.characters = std::clamp(characters, 1u, max_characters);
        // A processor computes on what lies there, so that it ends first.
        const bool anew = !wish_.frames_in.device.empty();
        if (anew) backend_.reset();
        build_world();
        stream();
        if (anew) build_backend();
    }

    void orbit(float yaw, float pitch) {
        dragged_ = true;
        input_.camera_yaw += yaw;
        input_.camera_pitch = std::clamp(input_.camera_pitch + pitch, 0.04f, 1.4f);
    }

    void zoom(float factor) {
        input_.camera_distance = std::clamp(input_.camera_distance * factor, 4.0f, 31.0f);
    }

    options wish_;
    const model_blocks& models_;
    game_code& code_;
    sdl_session session_;
    speaker speaker_;
    owned<SDL_Window> window_;
    owned<SDL_Renderer> screen_;
    owned<SDL_Texture> texture_;
    std::unique_ptr<world> world_;
    std::unique_ptr<lane_numbers> lanes_;
    std::unique_ptr<recorder> recorder_;
    std::unique_ptr<backend> backend_;
    braid_frames* frames_ = nullptr;  // null: not Braid
    overlay overlay_;
    game_input input_;
    bool serial_ = false, dragged_ = false, closed_ = false;
};

}  // namespace

bool has_display() {
    for (const char* name : {"DISPLAY", "WAYLAND_DISPLAY"})
        if (const char* value = std::getenv(name); value && *value) return true;
    return false;
}

int run_window(const options& wish, const model_blocks& models, game_code& code) {
    window(wish, models, code).run();
    return 0;
}

}  // namespace arena::host
