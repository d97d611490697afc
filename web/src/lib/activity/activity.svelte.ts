// The figures of one scope in one time zone, kept up to date while somebody looks at them.
import type { News } from '$lib/live/events';
import { live } from '$lib/live/live.svelte';
import { Loader } from '$lib/shell/loader.svelte';
import { dayPlus, daysOf, monthsOf } from './days';
import { Periods } from './periods.svelte';
import { readDays, readMonths, readSummary, type Day, type Month, type Summary } from './stats';
import { Throttle } from '$lib/shell/throttle';

// As live as a page can look without asking all the time.
const REST_MS = 1_000;
// Yesterday so far grows also while nobody clicks; and of the whole site one is told only for 90 seconds after a look.
const LOOK_EVERY_MS = 60_000;
// Clicks may come two days late, and a local day lies in up to three of UTC.
const DAYS_THAT_GROW = 4;

export class Activity {
  readonly scope: string;
  readonly zone: string;
  readonly summary: Loader<Summary>;
  readonly days: Periods<Day>;
  readonly months: Periods<Month>;
  /** The first day of which can still be found out how many people there were; null if of every day. */
  peopleKnownSince = $state<string | null>(null);
  /** Grows when everything was read again; components that read more of the scope read again, too. */
  renewals = $state(0);
  #pace = new Throttle(() => this.#renew(), REST_MS);

  constructor(scope: string, zone: string) {
    this.scope = scope;
    this.zone = zone;
    this.summary = new Loader(() => readSummary(scope, zone));
    this.days = new Periods({
      namesOf: daysOf,
      nameOf: ({ day }) => day,
      read: async (span) => {
        const { days, people_pending, people_known_since } = await readDays(scope, zone, span);
        this.peopleKnownSince = people_known_since;
        return { items: days, pending: people_pending };
      },
    });
    this.months = new Periods({
      namesOf: monthsOf,
      nameOf: ({ month }) => month,
      read: async (span) => ({ items: await readMonths(scope, span), pending: false }),
    });
  }

  /** Returns a function that ends it. */
  watch(): () => void {
    const look = (): void => {
      if (document.visibilityState === 'visible') this.#pace.ask();
    };
    const clock = setInterval(look, LOOK_EVERY_MS);
    document.addEventListener('visibilitychange', look);
    const ends = [
      live.on('stats.changed', (news) => {
        this.#hear(news);
        look();
      }),
      live.on('stats.site-changed', () => {
        if (this.scope === 'site') look();
      }),
      // The figures may have been read before the server began to tell.
      live.on('hello', look),
      live.on('resync', look),
    ];
    return () => {
      clearInterval(clock);
      document.removeEventListener('visibilitychange', look);
      ends.forEach((end) => end());
      this.#pace.stop();
      this.days.end();
      this.months.end();
    };
  }

  /** The event carries totals only; the rest has to be read. */
  #hear({ total }: News['stats.changed']): void {
    const summary = this.summary.data;
    if (this.scope !== 'mine' || !summary || total <= summary.total.clicks) return;
    this.summary.data = { ...summary, total: { ...summary.total, clicks: total } };
  }

  async #renew(): Promise<void> {
    await this.summary.again();
    const today = this.summary.data?.today_is;
    if (!today) return;
    const growing = { first: dayPlus(today, 1 - DAYS_THAT_GROW), last: today };
    await Promise.all([this.days.renew(growing), this.months.renew(growing)]);
    this.renewals += 1;
  }
}
