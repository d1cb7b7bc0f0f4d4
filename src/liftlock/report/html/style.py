"""The style sheet of the report: for screens, light and dark, for phones, and for paper."""

from __future__ import annotations

from liftlock.report.html.tones import tone_rules

LIGHT = {
    "paper": "#ffffff",
    "ink": "#1b1f27",
    "quiet": "#525a68",
    "line": "#c9ced8",
    "soft": "#f3f5f9",
    "accent": "#0a4f9e",
    "warn": "#8a3b00",
    "warn-soft": "#fff4e6",
    "before": "#8d95a5",
    "highest": "#2a74b0",
    "lowest": "#c96f17",
    "released": "#5b6b4f",
    "track": "#eceff4",
}
DARK = {
    "paper": "#14171c",
    "ink": "#e8ebf1",
    "quiet": "#adb5c4",
    "line": "#3c4452",
    "soft": "#1e232b",
    "accent": "#8cc4ff",
    "warn": "#ffb066",
    "warn-soft": "#2e2316",
    "before": "#8a93a5",
    "highest": "#6db3f2",
    "lowest": "#f2a04e",
    "released": "#a3bb91",
    "track": "#262c36",
}

_RULES = """
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%;scroll-padding-top:1rem}
body{margin:0;background:var(--paper);color:var(--ink);
 font:1rem/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","Liberation Sans",sans-serif;
 overflow-wrap:break-word}
h1,h2,h3,p,li,figcaption,caption,.of,.long,code{overflow-wrap:anywhere}
bdi{unicode-bidi:isolate}
span.whole,td.number{white-space:nowrap}
main,header,footer{max-width:46rem;margin:0 auto;padding:0 1.1rem}
header{padding-top:2.6rem}
h1{font-size:1.9rem;line-height:1.2;margin:.2rem 0 .8rem;letter-spacing:-.01em}
h2{font-size:1.4rem;line-height:1.25;margin:3.2rem 0 .8rem;padding-top:.9rem;
 border-top:2px solid var(--ink)}
h3{font-size:1.08rem;line-height:1.3;margin:2.2rem 0 .5rem}
p{margin:.6rem 0}
a{color:var(--accent)}
code{font:.88em/1.4 ui-monospace,"SF Mono",Menlo,Consolas,"Liberation Mono",monospace;
 background:var(--soft);border-radius:3px;padding:.08em .3em}
code.print{font-size:.69em}
.eyebrow{margin:0;color:var(--quiet);font-size:.85rem;letter-spacing:.06em;
 text-transform:uppercase;font-weight:600}
.verdict{font-size:1.2rem;line-height:1.45;margin:1rem 0;padding:.9rem 1.1rem;
 background:var(--soft);border-left:4px solid var(--accent)}
.verdict p{margin:.3rem 0}
.verdict ul{font-size:1rem;margin:.4rem 0;padding-left:1.2rem}
.verdict li{margin:.3rem 0}
.promised{margin:.8rem 0;padding:.7rem 1.1rem;background:var(--soft);
 border-left:4px solid var(--accent)}
.promise{font-size:1.12rem;font-weight:600;line-height:1.45}
.warning{margin:1rem 0;padding:.5rem 1.1rem;background:var(--warn-soft);
 border:1px solid var(--warn);border-left-width:4px}
.warning strong{color:var(--warn)}
.contents{margin:1.4rem 0;padding:.2rem 0}
.contents ol{margin:.3rem 0;padding-left:1.4rem}
.contents li{margin:.15rem 0}
.quiet,footer{color:var(--quiet);font-size:.9rem}
footer{margin-top:3rem;padding-top:1rem;padding-bottom:3rem;border-top:1px solid var(--line)}
ul.limits li{margin:.7rem 0}
figure{margin:1.1rem 0}
figcaption,caption{color:var(--quiet);font-size:.9rem;line-height:1.45;text-align:left}
figcaption{margin-top:.5rem}
.scroll{overflow-x:auto;max-width:100%}
.scroll:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
.scroll>svg{display:block;max-width:100%;height:auto}
table{border-collapse:collapse;width:100%;font-size:.92rem;line-height:1.4;margin:.6rem 0;
 font-variant-numeric:tabular-nums}
caption{caption-side:top;padding:.2rem 0 .4rem}
th,td{padding:.36rem .9rem .36rem 0;text-align:left;vertical-align:top;
 border-bottom:1px solid var(--line);min-width:4.2rem;font-weight:400}
th:last-child,td:last-child{padding-right:0}
thead th{font-weight:600;border-bottom:2px solid var(--line);vertical-align:bottom}
tbody th{max-width:18rem}
td.number,th.number{text-align:right}
svg text{font:11px system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","Liberation Sans",
 sans-serif;fill:var(--ink);font-variant-numeric:tabular-nums}
svg .end{text-anchor:end}
svg .middle{text-anchor:middle}
svg .axis{fill:var(--quiet)}
svg .quiet{fill:var(--quiet)}
svg.chart text{font-size:12.5px}
svg .strong{font-weight:700}
.cell text{text-anchor:middle}
.cell rect{stroke:var(--paper);stroke-width:1}
.halo{fill:none;stroke:#fff;stroke-width:4}
.frame{fill:none;stroke:#000;stroke-width:2}
.rule{stroke:var(--quiet)}
.grid{stroke:var(--line);stroke-width:1}
.end-line{fill:none;stroke:var(--quiet);stroke-width:1.5;stroke-dasharray:5 4}
.curve{fill:none;stroke:var(--highest);stroke-width:2.2}
.dot{fill:var(--paper);stroke:var(--highest);stroke-width:2}
.chosen{fill:var(--lowest);stroke:var(--ink);stroke-width:1.2}
.band{fill:var(--highest)}
.outer{fill-opacity:.18}.inner{fill-opacity:.32}
.bars{display:grid;gap:.8rem}
.group{break-inside:avoid}
small{color:var(--quiet);font-size:.85em}
.of{font-weight:600;font-size:.92rem;line-height:1.35}
.row{display:grid;grid-template-columns:5.4rem minmax(0,1fr) 7.6rem;gap:.6rem;align-items:center;
 font-size:.86rem;line-height:1.35;font-variant-numeric:tabular-nums}
.what{color:var(--quiet)}
.bar{display:block}
.track{fill:var(--track)}
rect.before{fill:var(--before)}
rect.highest{fill:var(--highest)}
rect.lowest{fill:var(--lowest)}
rect.released{fill:var(--released)}
.endless{stroke:var(--ink);stroke-width:1.5;stroke-dasharray:3 3}
.span{stroke:var(--ink);stroke-width:1.5}
.limit{stroke:var(--ink);stroke-width:2}
@media (min-width:40rem){code.whole{white-space:nowrap}
 .group{display:grid;grid-template-columns:11rem minmax(0,1fr);
 column-gap:.8rem}.of{padding-right:.4rem}}
@media (min-width:68rem){figure.wide{width:62rem;margin-left:calc(50% - 31rem)}
 figure.wide>figcaption{max-width:43.8rem;margin-left:auto;margin-right:auto}
 figure.wide>.scroll>svg{margin:0 auto}}
@media screen and (max-width:30rem){h1{font-size:1.5rem}h2{font-size:1.25rem}
 .verdict{font-size:1.06rem}
 header{padding-top:1.4rem}.row{grid-template-columns:4.4rem minmax(0,1fr) 5.4rem;gap:.4rem}
 thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
 table,caption,tbody{display:block}tbody tr{display:block;padding:.45rem 0;
 border-bottom:1px solid var(--line)}
 tbody th,td,td.number{display:block;border:0;padding:.06rem 0;text-align:left;max-width:none}
 tbody th{font-weight:600}td::before{content:attr(data-of) ": ";color:var(--quiet)}
 td:empty{display:none}td br{display:none}td small{margin-left:.5em}}
"""

_PRINT = """
@page{margin:16mm 15mm}
html{font-size:10.5pt}
main,header,footer{max-width:none;padding:0}
header{padding-top:0}
a{color:inherit;text-decoration:none}
h2,h3{break-after:avoid}
figure,.group,.promised,.verdict,.warning,tr{break-inside:avoid}
thead{display:table-header-group;break-after:avoid}
caption{break-after:avoid}
tbody tr:first-child{break-before:avoid}
.scroll{overflow:visible}
.scroll>svg{min-width:0!important;max-height:225mm}
.verdict,.promised,.warning,code{background:none}
.warning{border-width:2px}
.contents{break-after:auto}
"""


def style_sheet() -> str:
    """Return all rules; paper always gets the light colours."""
    return "".join(
        [
            f":root{{color-scheme:light dark;{_variables(LIGHT)}}}",
            tone_rules(dark=False),
            "@media screen and (prefers-color-scheme:dark){",
            f":root{{{_variables(DARK)}}}",
            tone_rules(dark=True),
            ".halo{stroke:#000}.frame{stroke:#fff}}",
            _RULES.replace("\n", ""),
            f"@media print{{{_PRINT.replace(chr(10), '')}}}",
        ]
    )


def _variables(colours: dict[str, str]) -> str:
    return "".join(f"--{name}:{colour};" for name, colour in colours.items())
