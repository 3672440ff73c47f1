import { createContext } from "preact";
import { useContext, useEffect, useReducer, useRef, useState } from "preact/hooks";
import { Session, type State } from "./session";

export const SessionContext = createContext<Session>(new Session());

export function useSession(): Session {
    return useContext(SessionContext);
}

export function useSessionState(): State {
    const session = useSession();
    const [, again] = useReducer((count: number) => count + 1, 0);
    useEffect(() => session.listen(() => again(undefined as never)), [session]);
    return session.state;
}

/** The size of an element, followed. */
export function useSize<T extends HTMLElement>(): { of: { current: T | null }; width: number; height: number } {
    const of = useRef<T>(null);
    const [size, setSize] = useState({ width: 0, height: 0 });
    useEffect(() => {
        const element = of.current;
        if (element === null) return undefined;
        const observer = new ResizeObserver(() => setSize({ width: element.clientWidth, height: element.clientHeight }));
        observer.observe(element);
        return () => observer.disconnect();
    }, []);
    return { of, ...size };
}
