const key = 'dragoman-console-token';

/**
 * The token of this page. It comes in the address once, is kept for this tab alone, and is taken out of the address so
 * that no screenshot, bookmark or history has it.
 */
export const token: string = (() => {
  const url = new URL(location.href);
  const given = url.searchParams.get('token');
  if (given === null) return sessionStorage.getItem(key) ?? '';
  sessionStorage.setItem(key, given);
  url.searchParams.delete('token');
  history.replaceState(null, '', url);
  return given;
})();
