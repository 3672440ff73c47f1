// How far the program's clock is ahead of the page's, from questions and answers over a connection: the
// same as src/profile/stream/clock_offset.hpp.

export interface ClockEstimate {
    /** ns of the other clock minus ns of the own one. */
    ahead: number;
    /** ns; `ahead` is off by at most half of it. */
    roundTrip: number;
}

/**
 * The answer was made at some time between question and arrival; the middle is off by at most half
 * the way. So the quickest of the last answers says most: what delays one only makes it worse.
 */
export class ClockOffset {
    private readonly samples: ClockEstimate[] = [];

    /** `last`: older answers are forgotten, because clocks drift. */
    constructor(private readonly last = 16) {}

    /** When it was asked and when the answer came, by the own clock; `answered` by the other. In ns. */
    add(asked: number, answered: number, came: number): void {
        if (came < asked) return;
        this.samples.push({ ahead: answered - (asked + (came - asked) / 2), roundTrip: came - asked });
        if (this.samples.length > this.last) this.samples.shift();
    }

    /** Null before the first answer. */
    best(): ClockEstimate | null {
        return this.samples.reduce<ClockEstimate | null>((best, one) => (best === null || one.roundTrip <= best.roundTrip ? one : best), null);
    }
}

/** ns, by a clock that is never set. */
export const ownNow = (): number => performance.now() * 1e6;

/** Asks the program for its time, one question after the other: the next one is not read before the answer has left. */
export class Pings {
    private readonly offset = new ClockOffset();
    private number = 0;
    private asked = NaN;

    constructor(
        private readonly send: (text: string) => void,
        private readonly now: () => number = ownNow,
    ) {}

    /** Does nothing while an answer is out. */
    ask(): void {
        if (!Number.isNaN(this.asked)) return;
        this.asked = this.now();
        this.send(JSON.stringify({ ping: ++this.number }));
    }

    /** `time`: ns since the capture began, 0 when it has not. Null: nothing is known yet. */
    answer(number: number, time: number): ClockEstimate | null {
        if (number === this.number && !Number.isNaN(this.asked)) {
            if (time > 0) this.offset.add(this.asked, time, this.now());
            this.asked = NaN;
        }
        return this.offset.best();
    }
}
