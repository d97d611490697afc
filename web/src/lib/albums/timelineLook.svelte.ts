// Whether the timeline in this browser has the albums of others among one's own photos. It has, until somebody says no.
const KEY = 'photos-together';

class TimelineLook {
  together = $state(remembered() !== 'no');

  put(together: boolean): void {
    this.together = together;
    try {
      localStorage.setItem(KEY, together ? 'yes' : 'no');
    } catch {
      // Storage is disabled: the choice lasts until the page is closed.
    }
  }
}

function remembered(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

export const timelineLook = new TimelineLook();
