// A browser lets no page of the file system fetch the index of the search.
if (location.protocol === "file:") {
  const note = document.createElement("div");
  note.className = "without-search";
  note.textContent = "Search needs a server: python -m http.server --directory site";
  document.querySelector(".md-search")?.replaceWith(note);
}
