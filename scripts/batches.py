"""Which sources can be compiled as one: none mentions a name that another keeps to itself.

    python3 scripts/batches.py SIZE FILE...      a line "NUMBER FILE" for each that has company
"""
import pathlib
import re
import sys

# Macros, and names that a `using namespace` brings, would reach the files after it.
ALONE = re.compile(r"^(#define|#undef|using namespace (?!std::))", re.MULTILINE)
PRIVATE = re.compile(r"^namespace \{$(.*?)^\}  // namespace$", re.MULTILINE | re.DOTALL)
STATIC = re.compile(r"^static .*?\b(\w+)(?:\(| = )", re.MULTILINE)
# At the beginning of a line, where clang-format puts them: a type, or the word before a parenthesis, a brace or "=".
TYPE = r"(?:struct|class|enum class|enum|concept) (\w+)|using (\w+) ="
OTHER = r"(?!using )[\w:].*?\b(\w+)(?:\(|\{| = |\[|;)"
NAME = re.compile(rf"^(?:template <.*> )?(?:{TYPE}|{OTHER})", re.MULTILINE)


def private_names(text):
    found = {name for block in PRIVATE.findall(text) for names in NAME.findall(block) for name in names}
    # TEST(...) and the like are no names.
    return {name for name in found | set(STATIC.findall(text)) if name and not name.isupper()}


class Source:
    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.text = self.path.read_text()
        self.alone = bool(ALONE.search(self.text))
        self.private = private_names(self.text)
        self.words = set(re.findall(r"\w+", self.text))

    def fits(self, other):
        return not (self.alone or other.alone or self.private & other.words or other.private & self.words)


def batches_of(sources, size):
    """Lists of at most that many, in which all fit each other, in the order of the sources."""
    batches = []
    for source in sources:
        home = next((b for b in batches if len(b) < size and all(source.fits(other) for other in b)), None)
        if home:
            home.append(source)
        else:
            batches.append([source])
    return batches


def main():
    for number, batch in enumerate(batches_of([Source(path) for path in sys.argv[2:]], int(sys.argv[1]))):
        if len(batch) > 1:
            for source in batch:
                print(number, source.path)


if __name__ == "__main__":
    main()
