// The display settings of the shelf in this browser: list or tiles, and the order.
import type { Sort, View } from '$lib/files/entries';

class Look {
  view = $state<View>(remembered('shelf-view') === 'grid' ? 'grid' : 'list');
  sort = $state<Sort>(remembered('shelf-sort') === 'newest' ? 'newest' : 'name');

  show(view: View): void {
    this.view = view;
    remember('shelf-view', view);
  }

  order(sort: Sort): void {
    this.sort = sort;
    remember('shelf-sort', sort);
  }
}

function remembered(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

function remember(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    // Storage is disabled: the choice lasts until the page is closed.
  }
}

export const look = new Look();
