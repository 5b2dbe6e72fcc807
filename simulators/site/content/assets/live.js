const root = document.getElementById("app");

function element(name, text) {
  const created = document.createElement(name);
  created.textContent = text;
  return created;
}

async function show() {
  const response = await fetch("/api/readings.json");
  const { station, readings } = await response.json();
  const table = document.createElement("table");
  const head = table.createTHead().insertRow();
  for (const name of ["Hour", "Temperature", "Rain", "Wind"]) head.append(element("th", name));
  const body = table.createTBody();
  for (const { hour, temperature_c, rain_mm, wind_ms } of readings) {
    const row = body.insertRow();
    for (const value of [hour, `${temperature_c} °C`, `${rain_mm} mm`, `${wind_ms} m/s`])
      row.append(element("td", value));
  }
  const article = document.createElement("article");
  article.append(element("h1", "Live readings"));
  article.append(
    element("p", `These are the last readings of the station ${station}, which stands behind our workshop.`),
  );
  article.append(table);
  root.replaceChildren(article);
}

show();
