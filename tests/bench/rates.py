"""Autodesk's published rates, and what a tree needs of them."""

# Calls a minute.
RATES = {"folders": 300, "storage": 1000}
# Entries of a page.
PAGE = 200


def folder_pages(tree):
    """How many pages the folders of /admin/tree have, an empty one's too."""
    children = {}
    for entry in tree:
        path = (entry["project_id"], *entry["path"])
        if entry["kind"] == "folder":
            children.setdefault(path, 0)
        if len(path) > 2:
            children[path[:-1]] = children.get(path[:-1], 0) + 1
    return sum(max(1, -(-count // PAGE)) for count in children.values())
