const notice = document.getElementById("notice");

export function say(text) {
  notice.textContent = text;
  notice.className = "";
}

export function warn(text) {
  notice.textContent = text;
  notice.className = "error";
}
