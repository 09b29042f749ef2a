/** Style of HTML reports, with a dark and a light scheme and a print layout. */
export const htmlReportStyle = `
:root{color-scheme:light dark;--bg:#fff;--fg:#1f2328;--dim:#59636e;--line:#d1d9e0;--soft:#f6f8fa;--pass:#1a7f37;--fail:#b62324;--warn:#9a5b00;--skip:#59636e;--alert:#fff1e5;--link:#0969da}
@media (prefers-color-scheme:dark){:root{--bg:#0d1117;--fg:#e6edf3;--dim:#9198a1;--line:#30363d;--soft:#161b22;--pass:#3fb950;--fail:#ff7b72;--warn:#e3a33b;--skip:#9198a1;--alert:#2d1f0e;--link:#58a6ff}}
*{box-sizing:border-box}
body{overflow-wrap:anywhere;margin:0 auto;max-width:72rem;padding:1.5rem;background:var(--bg);color:var(--fg);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
h1{font-size:1.5rem;margin:0 0 .25rem}h2{font-size:1.2rem;margin:2rem 0 .75rem;border-bottom:1px solid var(--line);padding-bottom:.25rem}h3{font-size:1rem;margin:0}
a{color:var(--link)}code,pre{font:12.5px/1.45 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
pre{background:var(--soft);border:1px solid var(--line);border-radius:6px;padding:.6rem .75rem;margin:.4rem 0;overflow:auto;max-height:24rem;white-space:pre-wrap;overflow-wrap:anywhere}
.dim{color:var(--dim)}.verdict{display:flex;flex-wrap:wrap;gap:.5rem 1rem;align-items:center;border:1px solid var(--line);border-left:6px solid var(--skip);border-radius:6px;padding:.75rem 1rem;margin:1rem 0;background:var(--soft)}
.verdict strong{font-size:1.3rem}.full{border-left-color:var(--pass)}.partial,.minimal{border-left-color:var(--warn)}.non-conformant,.none{border-left-color:var(--fail)}
.count{white-space:nowrap}.count b{font-variant-numeric:tabular-nums}
.alert{background:var(--alert);border:1px solid var(--warn);border-radius:6px;padding:.6rem .9rem;margin:.5rem 0}
.finding{border:1px solid var(--line);border-left:4px solid var(--fail);border-radius:6px;padding:.75rem 1rem;margin:.75rem 0}.finding.is-warn{border-left-color:var(--warn)}
.finding header{display:flex;flex-wrap:wrap;gap:.4rem .75rem;align-items:baseline}
.tag{font-size:12px;border:1px solid var(--line);border-radius:999px;padding:0 .5rem;white-space:nowrap}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.15rem .75rem;margin:.5rem 0}dt{color:var(--dim)}dd{margin:0;overflow-wrap:anywhere}
details{margin:.35rem 0}summary{cursor:pointer}summary:focus-visible,a:focus-visible,button:focus-visible,input:focus-visible,select:focus-visible{outline:2px solid var(--link);outline-offset:2px}
table{overflow-wrap:break-word;border-collapse:collapse;width:100%;font-size:13.5px}th,td{border-bottom:1px solid var(--line);padding:.3rem .5rem;text-align:left;vertical-align:top}thead th{position:sticky;top:0;background:var(--bg)}
.scroll{overflow-x:auto}td.cell{text-align:center;white-space:nowrap}.cell .dim{white-space:normal;font-weight:400;font-size:12px}tbody th{font-weight:500;overflow-wrap:anywhere;min-width:9rem}
.pass{color:var(--pass)}.fail{color:var(--fail);font-weight:600}.warn{color:var(--warn);font-weight:600}.inconclusive,.not-applicable,.error{color:var(--skip)}
.filter{display:flex;flex-wrap:wrap;align-items:center;gap:.5rem;margin:.5rem 0}.filter input,.filter select{font:inherit;padding:.25rem .5rem;border:1px solid var(--line);border-radius:6px;background:var(--bg);color:var(--fg)}.filter input{flex:1;min-width:12rem}
[hidden]{display:none}
@media (max-width:40rem){body{padding:.75rem}ul{padding-left:1.2rem}tbody th,thead th:first-child{position:sticky;left:0;background:var(--bg);min-width:8rem;max-width:50vw}#rules th:nth-child(2),#rules td:nth-child(2),#rules th:nth-child(3),#rules td:nth-child(3),th .dim{display:none}dl{grid-template-columns:1fr}dt{margin-top:.25rem}}
@media print{:root{--bg:#fff;--fg:#000;--dim:#444;--line:#bbb;--soft:#fff;--pass:#1a7f37;--fail:#b62324;--warn:#9a5b00;--link:#000}body{max-width:none;padding:0;font-size:10.5pt}.filter,nav{display:none}pre{max-height:none}.finding dl,.verdict,tr{break-inside:avoid}.finding header,.finding>div{break-after:avoid}table{font-size:9pt}h2{break-after:avoid}thead th{position:static}}
`;

/** Script that filters the rows of the rule table. Without it, all rows are visible. */
export const htmlReportScript = `
const text=document.getElementById('find'),verdict=document.getElementById('only'),shown=document.getElementById('shown');
const rows=[...document.querySelectorAll('#rules tbody tr')];
function filter(){const t=text.value.toLowerCase(),v=verdict.value;let n=0;for(const r of rows){const is=(t===''||r.textContent.toLowerCase().includes(t))&&(v===''||r.dataset.verdicts.split(' ').includes(v));r.hidden=!is;if(is)n++}shown.textContent=n+' of '+rows.length+' rules'}
if(text){text.addEventListener('input',filter);verdict.addEventListener('change',filter);filter()}
`;
