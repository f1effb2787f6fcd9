"""Matches: which texts of two systems about the same source are compared."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, combinations
from typing import NamedTuple

from numpy.random import Generator

from spanjury.judges.core import ConfigError, DataError, Segment, TextPair, fingerprint
from spanjury.orchestration.studies.agreement.ratings import known_input_of

_LONGEST_ID = 80


class Match(NamedTuple):
    """A pair of texts, and the name of their source."""

    source: str
    pair: TextPair

    @property
    def systems(self) -> tuple[str, str]:
        """The systems of A and of B."""
        return self.pair.a.system, self.pair.b.system


class _Source(NamedTuple):
    """A source: what says that texts are about it, and their inputs."""

    name: str
    inputs: tuple[tuple[str, str], ...]

    @property
    def digest(self) -> str:
        """A name that only this source has."""
        return fingerprint(self.name, *chain(*self.inputs))

    @property
    def label(self) -> str:
        """The id of the document if there is one, else the digest."""
        is_id = "\n" not in self.name and len(self.name) <= _LONGEST_ID
        return self.name if is_id else self.digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Entries:
    """The texts of several systems, by source.

    Parameters
    ----------
    systems
        In the order in which the texts name them: the earlier one of two is A.
    sources
        Name of the source -> system -> its text; two systems or more each.
    """

    systems: tuple[str, ...]
    sources: Mapping[str, Mapping[str, Segment]]

    @classmethod
    def of(cls, segments: Iterable[Segment]) -> "Entries":
        """Sort texts by source: by their inputs, and the id of their document if they have one.

        Raise `DataError` if a system has two texts about one source, or no two systems share any.
        """
        by_source: dict[_Source, dict[str, Segment]] = {}
        systems: dict[str, None] = {}
        for segment in segments:
            name = known_input_of(segment)
            if name is None:
                continue
            systems.setdefault(segment.system)
            # Texts whose inputs differ are no pair, even if their document has the same id.
            source = _Source(name, tuple(sorted(segment.inputs.items())))
            texts = by_source.setdefault(source, {})
            if segment.system in texts:
                raise DataError(
                    f"{segment.segment_id!r} and {texts[segment.system].segment_id!r} are of one "
                    f"system, {segment.system!r}, and about one source: name their systems in the"
                    " rows, under 'system'"
                )
            texts[segment.system] = segment
        shared: dict[str, Mapping[str, Segment]] = {}
        for source, texts in by_source.items():
            if len(texts) > 1:
                shared[source.digest if source.label in shared else source.label] = texts
        if not shared:
            raise DataError(
                "no two systems have a text about the same source: pairs are made of rows with"
                " the same inputs and different systems"
            )
        return cls(systems=tuple(systems), sources=shared)

    def all_matches(self, *, against: str = "") -> tuple[Match, ...]:
        """Return every match, or those of one system, source by source.

        Raise `ConfigError` if no text is of that system.
        """
        if against and against not in self.systems:
            names = ", ".join(self.systems)
            raise ConfigError(f"no text is of the system {against!r}; there are: {names}")
        return tuple(
            Match(source, TextPair(a=texts[first], b=texts[second]))
            for source, texts in self.sources.items()
            for first, second in combinations(self._of(texts), 2)
            if not against or against in {first, second}
        )

    def _of(self, texts: Mapping[str, Segment]) -> Iterator[str]:
        return (system for system in self.systems if system in texts)


class Swiss:
    """Draws matches round by round: in each, systems meet their neighbours in the standing.

    Where a Swiss tournament lets no two players meet twice, two systems meet again over another
    source. Every match of two moves them one rank apart for the draw, so that others meet, too.

    Parameters
    ----------
    entries
        The texts.
    rng
        Draws the first standing, and the source of each match.
    """

    def __init__(self, entries: Entries, *, rng: Generator) -> None:
        self._open: dict[tuple[str, str], list[Match]] = {}
        for match in entries.all_matches():
            self._open.setdefault(match.systems, []).append(match)
        for matches in self._open.values():
            rng.shuffle(matches)
        lots = rng.permutation(len(entries.systems))
        self._lots = dict(zip(entries.systems, map(int, lots), strict=True))
        self._rank = {system: number for number, system in enumerate(entries.systems)}
        self._met: Counter[tuple[str, str]] = Counter()
        self._played: Counter[str] = Counter()

    def round(self, points: Mapping[str, float]) -> tuple[Match, ...]:
        """Return the matches of the next round; none if all texts have met.

        Parameters
        ----------
        points
            System -> its points so far: 1 for a win, a half for a tie. A system without any has 0.
        """
        waiting = self._standing(points)
        if len(waiting) % 2:
            # The one that played most sits out, the last of several.
            most = max(range(len(waiting)), key=lambda at: (self._played[waiting[at]], at))
            waiting.append(waiting.pop(most))
        matches: list[Match] = []
        while waiting:
            first = waiting.pop(0)
            rivals = [
                (distance + self._met[self._key(first, other)], distance, other)
                for distance, other in enumerate(waiting)
                if self._open.get(self._key(first, other))
            ]
            if rivals:
                *_, other = min(rivals)
                waiting.remove(other)
                matches.append(self._drawn(first, other))
        return tuple(matches)

    def _standing(self, points: Mapping[str, float]) -> list[str]:
        """Return the systems, those with the most points a match first; lots decide ties."""

        def share(system: str) -> float:
            return points.get(system, 0.0) / self._played[system] if self._played[system] else 0.5

        return sorted(self._lots, key=lambda system: (-share(system), self._lots[system]))

    def _drawn(self, first: str, second: str) -> Match:
        key = self._key(first, second)
        self._met[key] += 1
        self._played.update((first, second))
        return self._open[key].pop()

    def _key(self, first: str, second: str) -> tuple[str, str]:
        return (first, second) if self._rank[first] < self._rank[second] else (second, first)
