"""Pages for people and analysts, rendered on the server; answers are drawn where they are given."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib import resources
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

from jinja2 import ChoiceLoader, Environment, PackageLoader, PrefixLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from liftlock.collect.problems import Problem
from liftlock.collect.server.views import (
    MOST_MECHANISMS,
    MechanismView,
    QuestionView,
    ResultView,
    SurveyView,
)
from liftlock.collect.survey.check import make_consent
from liftlock.errors import extra
from liftlock.report.html.charts import place
from liftlock.report.html.markup import breakable, finished, listed, named
from liftlock.report.html.page import style_sheet

if TYPE_CHECKING:
    from liftlock.collect.server.access import Operator
    from liftlock.collect.server.service import Served, Service
    from liftlock.collect.survey import Survey
    from liftlock.collect.survey.consent import Consent

Endpoint = Callable[[Request], Awaitable[Response]]

COOKIE = "liftlock_token"
_LONGEST_FORM = 4096
_MOST_KEPT = 256
"""So many rendered pages are kept until something in them changes."""
_HEADERS = {
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
_SAFE = (
    "default-src 'none'; style-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; frame-ancestors 'none'"
)
QUESTION_POLICY = (
    f"{_SAFE}; script-src 'self'; connect-src 'self'; form-action 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
PLAIN_POLICY = f"{_SAFE}; form-action 'none'"
FORM_POLICY = f"{_SAFE}; form-action 'self'"

_STATIC = {
    "question.js": "text/javascript; charset=utf-8",
    "report.js": "text/javascript; charset=utf-8",
    "memory.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}


# --- routes ---------------------------------------------------------------------------------------


def routes(service: Service) -> list[Route]:
    """Return the pages of the public address: surveys, and results where everybody may see them."""
    pages = PublicPages(service)
    return [
        Route("/", pages.start),
        Route("/s/{survey}", pages.survey),
        Route("/s/{survey}/results", pages.results),
        Route("/s/{survey}/results/{sheet}.{kind}", pages.download),
        Route("/mechanisms/{digest}.json", pages.mechanism),
        Route("/static/{name}", static),
    ]


def admin_routes(service: Service) -> list[Route]:
    """Return the pages of the other address: the dashboard of whoever signs in with a token."""
    pages = AdminPages(service)
    return [
        Route("/", pages.start),
        Route("/sign-in", pages.sign_in, methods=["GET", "POST"]),
        Route("/sign-out", pages.sign_out, methods=["POST"]),
        Route("/s/{survey}", pages.results),
        Route("/s/{survey}/links.csv", pages.links),
        Route("/s/{survey}/{sheet}.{kind}", pages.download),
        Route("/mechanisms/{digest}.json", pages.mechanism),
        Route("/static/{name}", static),
    ]


class Pages:
    """What both addresses show."""

    curator = False
    """Whether it is shown to those who hold what is known of each person of a panel."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self._mechanisms: dict[str, MechanismView] = {}
        self._consents: dict[str, tuple[Survey, Consent]] = {}
        self._rendered: dict[tuple[str, ...], tuple[Survey, Hashable, str]] = {}

    def found(self, request: Request) -> list[Served]:
        """Return the collections of the survey in the address."""
        name = request.path_params["survey"]
        return [each for each in self.service.served.values() if each.survey.name == name]

    @property
    def surveys(self) -> list[SurveyView]:
        """Every survey that is served, once."""
        every = {each.survey.name: each.survey for each in self.service.served.values()}
        return [SurveyView(survey) for survey in every.values()]

    async def render(
        self, request: Request, template: str, policy: str, state: Hashable, **values: Any
    ) -> Response:
        """Render a page of a survey, unless it was rendered in this state before.

        That is done beside the loop that takes reports: pictures take their time.
        """
        survey: SurveyView = values["survey"]
        key = template, root_of(request), survey.key, f"{values.get('who')} {values.get('links')}"
        found = self._rendered.get(key)
        if found is None or found[0] is not survey.survey or found[1] != state:
            text: str = await self.service.results.read(fill, request, template, values)
            if len(self._rendered) >= _MOST_KEPT:
                self._rendered.clear()
            found = self._rendered[key] = survey.survey, state, text
        return respond(found[2], policy, private=template == "results.html")

    def mechanisms_of(self, served: Served, *, whole: bool = False) -> tuple[MechanismView, ...]:
        """Return the mechanisms that are shown of a collection, or all; their pictures are kept.

        Each mechanism of a panel holds somebody's prior, which is for the curator alone.
        """
        if served.collection.panel and not self.curator:
            return ()
        shown = list(served.collection.mechanisms.values())
        if whole:
            return tuple(MechanismView(each) for each in shown)
        shown = shown[:MOST_MECHANISMS]
        for each in shown:
            self._mechanisms.setdefault(each.digest, MechanismView(each))
        return tuple(self._mechanisms[each.digest] for each in shown)

    async def consent_to(self, survey: Survey) -> Consent:
        """Return what people agree to before they answer; it is made once."""
        found = self._consents.get(survey.name)
        if found is None or found[0] is not survey:
            consent: Consent = await self.service.results.read(make_consent, survey)
            found = self._consents[survey.name] = survey, consent
        return found[1]

    async def mechanism(self, request: Request) -> Response:
        """Return the file of a mechanism, under a name that can be saved."""
        digest = request.path_params["digest"]
        file = self.service.mechanisms.get(digest)
        if file is None:
            return message(request, "There is no such mechanism", status=404)
        return _file(file, "application/json", f"{digest}.json")

    async def result_views(
        self, served: Sequence[Served], *, whole: bool = False
    ) -> list[ResultView]:
        """Return what was collected of each question, with the first of its mechanisms or all."""
        places = enumerate(served, start=1)
        return [
            await self._result(each, f"q{n}", self.mechanisms_of(each, whole=whole))
            for n, each in places
        ]

    async def _result(
        self, served: Served, key: str, mechanisms: tuple[MechanismView, ...]
    ) -> ResultView:
        results, state = self.service.results, served.state_on(self.service.today())
        counts = await results.counts(served.name)
        total = counts.total
        if total < served.survey.least:
            return ResultView(served, key, state, mechanisms, total, None, None, {})
        content, why = None, ""
        if total:
            try:
                content = json.loads(await results.estimate(served, {}))
            except Problem as problem:
                why = problem.detail or problem.kind.title
        history = await results.history(served.name)
        return ResultView(served, key, state, mechanisms, total, counts, content, history, why)

    async def show_results(
        self, request: Request, served: list[Served], who: Operator | None
    ) -> Response:
        """Show what was collected of a survey."""
        survey = SurveyView(served[0].survey)
        views = await self.result_views(served)
        return await self.render(
            request,
            "results.html",
            FORM_POLICY if who else PLAIN_POLICY,
            tuple(view.revision for view in views),
            title=f"Results: {survey.title}",
            survey=survey,
            facts=survey.facts,
            together=(await self.consent_to(survey.survey)).together,
            results=views,
            who=who.name if who else "",
            folder="" if who else "results/",
            links=bool(who and who.role == "owner" and links_of(served)),
        )

    async def offer_download(self, request: Request, served: list[Served]) -> Response:
        """Return the estimates of all questions, or the counts of reports, as a file."""
        sheet, kind = request.path_params["sheet"], request.path_params["kind"]
        if sheet not in _SHEETS or kind not in _MEDIA:
            return message(request, "There is no such file", status=404)
        found = _SHEETS[sheet](await self.result_views(served, whole=True))
        body: bytes = await self.service.results.read(getattr(found, kind))
        return _file(body, _MEDIA[kind], f"{served[0].survey.name}-{sheet}.{kind}")


class PublicPages(Pages):
    """The public address."""

    async def start(self, request: Request) -> Response:
        """Show the surveys, or go to the only one."""
        surveys = self.surveys
        if len(surveys) == 1:
            return RedirectResponse(f"{root_of(request)}/s/{surveys[0].key}", 303, _HEADERS)
        return page(request, "surveys.html", PLAIN_POLICY, title="Surveys", surveys=surveys)

    async def survey(self, request: Request) -> Response:
        """Show the questions of a survey."""
        served = self.found(request)
        if not served:
            return message(request, "There is no such survey", status=404)
        survey = SurveyView(served[0].survey)
        consent, today = await self.consent_to(survey.survey), self.service.today()
        sent = {asked.name: asked.sent for asked in consent.questions}
        questions = [
            QuestionView(
                each,
                f"q{number}",
                each.state_on(today),
                self.mechanisms_of(each),
                sent[each.collection.question.name],
            )
            for number, each in enumerate(served, start=1)
        ]
        return await self.render(
            request,
            "survey.html",
            QUESTION_POLICY,
            tuple((each.collection, each.state) for each in questions),
            title=survey.title,
            survey=survey,
            consent=consent,
            questions=questions,
        )

    async def results(self, request: Request) -> Response:
        """Show the results, where everybody may see them."""
        served = self.found(request)
        refused = self._refuse(request, served)
        return refused or await self.show_results(request, served, None)

    async def download(self, request: Request) -> Response:
        """Return the estimates as a file, where everybody may have them."""
        served = self.found(request)
        refused = self._refuse(request, served)
        return refused or await self.offer_download(request, served)

    def _refuse(self, request: Request, served: list[Served]) -> Response | None:
        if not served:
            return message(request, "There is no such survey", status=404)
        if served[0].survey.results != "public":
            words = "The results of this survey are shown to its analysts, on another address."
            return message(request, "These results are not public", words, status=403)
        return None


class AdminPages(Pages):
    """The other address: all pages but the sign-in need a token."""

    curator = True

    def operator(self, request: Request) -> Operator:
        """Return who has signed in; raises Problem."""
        token = request.cookies.get(COOKIE, "")
        return self.service.access.require(f"Bearer {token}", ("analyst",))

    async def start(self, request: Request) -> Response:
        """Show the surveys."""
        try:
            who = await self._who(request)
        except Problem:
            return self._away(request)
        return page(
            request,
            "surveys.html",
            FORM_POLICY,
            private=True,
            title="Surveys",
            surveys=self.surveys,
            admin=True,
            who=who.name,
        )

    async def sign_in(self, request: Request) -> Response:
        """Ask for a token, or keep one that is right in a cookie."""
        if request.method != "POST":
            return self._ask(request)
        if not is_own(request):
            return self._ask(request, "The form came from another page: use this one.", 403)
        form = await read_form(request)
        token = form.get("token", "").strip()
        try:
            await self.service.results.read(
                self.service.access.require, f"Bearer {token}", ("analyst",)
            )
        except Problem as problem:
            words = (
                "This token may not see results."
                if problem.kind.key == "forbidden"
                else "This token is not known."
            )
            return self._ask(request, words, 403)
        answer = RedirectResponse(f"{root_of(request)}/", 303, _HEADERS)
        answer.set_cookie(
            COOKIE,
            token,
            path=f"{root_of(request)}/",
            secure=request.url.scheme == "https",
            httponly=True,
            samesite="strict",
        )
        return answer

    async def sign_out(self, request: Request) -> Response:
        """Forget the token."""
        if not is_own(request):
            return message(request, "The form came from another page", status=403)
        answer = RedirectResponse(f"{root_of(request)}/sign-in", 303, _HEADERS)
        answer.delete_cookie(COOKIE, path=f"{root_of(request)}/", httponly=True, samesite="strict")
        return answer

    async def results(self, request: Request) -> Response:
        """Show the dashboard of a survey."""
        return await self._with(request, self.show_results)

    async def download(self, request: Request) -> Response:
        """Return the estimates as a file."""

        async def offer(request: Request, served: list[Served], _: Operator) -> Response:
            return await self.offer_download(request, served)

        return await self._with(request, offer)

    async def links(self, request: Request) -> Response:
        """Return the link of each person of a panel, by their codes: for owners alone."""

        async def offer(request: Request, served: list[Served], who: Operator) -> Response:
            if who.role != "owner":
                return message(request, "Only an owner may have the links", status=403)
            people = links_of(served)
            if not people:
                return message(request, "This survey has no panel", status=404)
            survey, note = served[0].survey.name, self.service.store.note
            await self.service.results.read(note, who.name, "links of the panel", survey)
            text = io.StringIO(newline="")
            writer = csv.writer(text)
            writer.writerow(("person", "link"))
            writer.writerows(people.items())
            file = text.getvalue().encode()
            return _file(file, "text/csv; charset=utf-8", f"{survey}-links.csv")

        return await self._with(request, offer)

    async def _with(
        self,
        request: Request,
        show: Callable[[Request, list[Served], Operator], Awaitable[Response]],
    ) -> Response:
        try:
            who = await self._who(request)
        except Problem:
            return self._away(request)
        served = self.found(request)
        if not served:
            return message(request, "There is no such survey", status=404)
        return await show(request, served, who)

    async def _who(self, request: Request) -> Operator:
        found: Operator = await self.service.results.read(self.operator, request)
        return found

    def _away(self, request: Request) -> Response:
        return RedirectResponse(f"{root_of(request)}/sign-in", 303, _HEADERS)

    def _ask(self, request: Request, problem: str = "", status: int = 200) -> Response:
        return page(
            request,
            "sign-in.html",
            FORM_POLICY,
            status=status,
            private=True,
            title="Sign in",
            problem=problem,
        )


def links_of(served: Sequence[Served]) -> dict[str, str]:
    """Return the page of each person of a panel, whose fragment names their tables."""
    tables: dict[str, list[str]] = {}
    for each in served:
        for code, digest in each.collection.panel.items():
            tables.setdefault(code, []).append(f"{each.name}.table={digest}")
    return {code: f"/s/{served[0].survey.name}#{'&'.join(told)}" for code, told in tables.items()}


# --- forms ----------------------------------------------------------------------------------------


def is_own(request: Request) -> bool:
    """Tell whether a form comes from a page of this address: other pages may not send one.

    Browsers say so themselves on secure pages; otherwise they say where the form comes from.
    """
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site == "same-origin"
    origin = request.headers.get("origin", "")
    return origin != "" and urlsplit(origin).netloc == request.headers.get("host")


async def read_form(request: Request) -> dict[str, str]:
    """Read the fields of a short form; of a long one nothing."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > _LONGEST_FORM:
            return {}
    fields = parse_qs(body.decode("utf-8", "replace"), max_num_fields=8)
    return {name: values[0] for name, values in fields.items()}


# --- files ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sheet:
    """A table for other programs: the kinds of its columns, its rows, and the same as JSON."""

    columns: Mapping[str, type]
    rows: list[tuple[Any, ...]]
    data: Any

    def csv(self) -> bytes:
        """Write it as CSV."""
        text = io.StringIO(newline="")
        writer = csv.writer(text)
        writer.writerow(self.columns)
        writer.writerows(self.rows)
        return text.getvalue().encode()

    def json(self) -> bytes:
        """Write it as JSON."""
        return json.dumps(self.data, ensure_ascii=False, indent=1).encode()

    def parquet(self) -> bytes:
        """Write it as Parquet."""
        with extra("tables"):
            import pyarrow as pa
            import pyarrow.parquet as pq

        kinds = {str: pa.string(), float: pa.float64(), int: pa.int64()}
        columns = list(zip(*self.rows, strict=True)) or [()] * len(self.columns)
        pairs = zip(columns, self.columns.values(), strict=True)
        arrays = [pa.array(column, kinds[kind]) for column, kind in pairs]
        stream = io.BytesIO()
        pq.write_table(pa.table(arrays, names=list(self.columns)), stream)
        return stream.getvalue()


def estimates_sheet(views: Sequence[ResultView]) -> Sheet:
    """Return a row for each number that is estimated, of all people and of each group."""
    columns = {"question": str, "group": str, "answer": str, "estimate": float, "low": float}
    columns |= {"high": float, "error": float, "level": float, "reports": int}
    shown = {view.served.name: view.content for view in views if view.content is not None}
    rows = [
        (
            name,
            group,
            answer["name"] if isinstance(answer["name"], str) else json.dumps(answer["name"]),
            *(answer[key] for key in ("value", "low", "high", "error")),
            part["level"],
            part["reports"],
        )
        for name, content in shown.items()
        for group, part in {"": content, **content.get("groups", {})}.items()
        for answer in part["answers"]
    ]
    return Sheet(columns, rows, shown)


def counts_sheet(views: Sequence[ResultView]) -> Sheet:
    """Return a row for each output of each mechanism that is shown: these are not answers."""
    columns = {"question": str, "mechanism": str, "output": str, "reports_not_answers": int}
    shown = {
        view.served.name: {made.digest: made.counts_of(view.counted) for made in view.counts}
        for view in views
        if view.counted is not None
    }
    rows = [
        (name, digest, f"r{place}", number)
        for name, tables in shown.items()
        for digest, numbers in tables.items()
        for place, number in enumerate(numbers, start=1)
    ]
    return Sheet(columns, rows, {"reports_not_answers": shown})


_SHEETS = {"estimates": estimates_sheet, "counts": counts_sheet}
_MEDIA = {
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "parquet": "application/vnd.apache.parquet",
}


def _file(body: bytes, media: str, name: str) -> Response:
    headers = {"content-disposition": f'attachment; filename="{name}"', "cache-control": "no-store"}
    return Response(body, media_type=media, headers=_HEADERS | headers)


@cache
def static_files() -> Mapping[str, tuple[bytes, str, str]]:
    """Return the files that pages load: their bytes, kinds, and entity tags."""
    folder = resources.files("liftlock.collect.server") / "static"
    found = {name: ((folder / name).read_bytes(), kind) for name, kind in _STATIC.items()}
    style = f"{style_sheet()}\n{(folder / 'collect.css').read_text(encoding='utf-8')}"
    found["style.css"] = (style.encode(), "text/css; charset=utf-8")
    return {
        name: (body, kind, f'"{sha256(body).hexdigest()[:32]}"')
        for name, (body, kind) in found.items()
    }


async def static(request: Request) -> Response:
    """Return a style, a script or a picture; browsers ask each time whether it has changed."""
    found = static_files().get(request.path_params["name"])
    if found is None:
        return message(request, "There is no such file", status=404)
    body, kind, mark = found
    headers = _HEADERS | {"etag": mark, "cache-control": "no-cache"}
    if request.headers.get("if-none-match") == mark:
        return Response(status_code=304, headers=headers)
    return Response(body, headers=headers | {"content-type": kind})


# --- pages ----------------------------------------------------------------------------------------


def root_of(request: Request) -> str:
    """Return the path under which the pages are mounted."""
    return str(request.scope.get("root_path", "")).rstrip("/")


def page(
    request: Request,
    template: str,
    policy: str,
    *,
    status: int = 200,
    private: bool = False,
    **values: Any,
) -> Response:
    """Render a page with the headers that keep it to itself."""
    return respond(fill(request, template, values), policy, status, private=private)


def fill(request: Request, template: str, values: Mapping[str, Any]) -> str:
    """Put values in a template."""
    from liftlock import __version__

    told = {"admin": False, "who": "", "root": root_of(request), "version": __version__}
    return templates().get_template(template).render(told | dict(values))


def respond(text: str, policy: str, status: int = 200, *, private: bool) -> Response:
    """Answer with a page."""
    # Of a page without referrers a browser does not say where a form comes from.
    headers = {
        "content-security-policy": policy,
        "cache-control": "no-store" if private else "no-cache",
        "referrer-policy": "same-origin" if policy == FORM_POLICY else "no-referrer",
    }
    return HTMLResponse(text, status, _HEADERS | headers)


def message(request: Request, title: str, words: str = "", *, status: int) -> Response:
    """Say in a page what is wrong."""
    return page(
        request,
        "message.html",
        PLAIN_POLICY,
        status=status,
        title=title,
        words=words or "Check the address.",
        link=f"{root_of(request)}/",
        link_text="To the surveys",
    )


@cache
def templates() -> Environment:
    """Return the templates: whatever they are handed is escaped unless it is markup already."""
    report = PackageLoader("liftlock.report.html")
    made = Environment(
        loader=ChoiceLoader(
            [PackageLoader("liftlock.collect.server"), PrefixLoader({"report": report})]
        ),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=lambda value: finished(value) if isinstance(value, str) else value,
        keep_trailing_newline=True,
    )
    made.filters |= {"breakable": breakable, "listed": listed, "named": named, "place": place}
    return made
