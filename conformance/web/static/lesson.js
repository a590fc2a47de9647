"use strict";
// A prediction is answered at once, and may be answered again.
for (const section of document.querySelectorAll(".predict")) {
  for (const button of section.querySelectorAll("button")) {
    button.addEventListener("click", () => {
      for (const other of section.querySelectorAll("button")) other.classList.remove("chosen");
      button.classList.add("chosen");
      const right = button.dataset.right === "yes";
      section.querySelector("[role=status]").textContent = 
        right ? "✓ Right. " + button.dataset.why : "✗ " + button.dataset.why;
      section.classList.toggle("solved", right);
    });
  }
}
