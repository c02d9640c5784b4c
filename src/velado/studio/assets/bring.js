// <velado-bring>: the file of a hierarchy becomes an upload; the form sends its id.

customElements.define("velado-bring", class extends HTMLElement {
  connectedCallback() {
    const [file, named] = this.querySelectorAll("input"), state = this.querySelector("[role=status]");
    const send = async (path, method, more, body) => {
      const headers = {...more, "X-CSRF-Token": document.querySelector("meta[name=csrf]").content, "Accept-Language": document.documentElement.lang};
      const answer = await fetch(`/api/v1/uploads${path}`, {method, body, headers}), told = await answer.json();
      if (!answer.ok) throw new Error(told.message);
      return told.id;
    };
    file.onchange = async () => {
      const [{name, size}] = file.files;
      state.textContent = this.dataset.sending;
      try {
        const id = await send("", "POST", {"Content-Type": "application/json"}, JSON.stringify({name, bytes: size}));
        await send(`/${id}`, "PATCH", {"Upload-Offset": 0}, file.files[0]);
        [named.value, state.textContent] = [`upload:${id}`, name];
        named.dispatchEvent(new Event("change", {bubbles: true}));
      } catch (error) { state.textContent = error.message; }
    };
  }
});
