// Types that SvelteKit looks up by name.
declare global {
  namespace App {
    interface PageState {
      /** Which dialog is open, so that the back button closes it. */
      dialog?: string;
      /** Which file of a link is looked at, likewise. */
      viewed?: string;
    }
  }
}

export {};
