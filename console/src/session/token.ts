const key = 'dragoman-console-token';

/**
 * The access token of this page. It is read from the URL once, stored for this tab, and removed from the URL so that no
 * screenshot, bookmark or history contains it.
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
