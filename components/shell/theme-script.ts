export const themeKey = "voldeck.theme";

/** Runs before the first paint: the theme that was chosen, else the system's. Also hands the nonce to style tags made later. */
export const themeScript = `(() => {
  const chosen = localStorage.getItem(${JSON.stringify(themeKey)});
  const dark = chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.classList.toggle("dark", dark);
  window.__webpack_nonce__ = document.currentScript.nonce;
})();`;
