/** Shops as two systems write them: a text, a table of properties, and facts in JSON-LD. */
import { type Theme, wholePage, withoutHeading } from "./theme.ts";

function priceOf(index: number): string {
  return `${39 + index * 40}.90`;
}

function facts(title: string, index: number): string {
  const data = {
    "@context": "https://schema.org",
    "@type": "Product",
    name: title,
    sku: `SKU-${1_000 + index}`,
    offers: {
      "@type": "Offer",
      price: priceOf(index),
      priceCurrency: "EUR",
      availability: "https://schema.org/InStock",
    },
  };
  return `<script type="application/ld+json">${JSON.stringify(data)}</script>`;
}

/** The paragraphs in front of the table of properties, and the table. */
function parts(html: string): { text: string; table: string } {
  const body = withoutHeading(html);
  const at = body.indexOf("<table>");
  return { text: body.slice(0, at), table: body.slice(at) };
}

const woocommerce: Theme = {
  name: "woocommerce",
  section: "shop",
  extraBlocksMax: 8,
  forbidden: ["Related products", "Add to basket and pay later", "Your basket is empty", "Newsletter"],
  render: ({ title, html, index }) => {
    const { text, table } = parts(html);
    return wholePage(
      `${title} - Quarter Goods`,
      `<meta name="generator" content="WooCommerce 9.8"><meta property="og:type" content="product">${facts(title, index)}`,
      `<body class="product-template-default single single-product woocommerce"><header id="masthead"><a class="custom-logo-link" href="/">Quarter Goods</a><ul class="site-header-cart"><li>Your basket is empty</li></ul></header>
<div id="content"><nav class="woocommerce-breadcrumb"><a href="/">Home</a> / <a href="/c">Household</a></nav><main id="main"><div id="product-${index}" class="product type-product instock">
<div class="woocommerce-product-gallery"><figure><img src="/img/product-${index}.jpg" alt="${title}" class="wp-post-image"></figure></div>
<div class="summary entry-summary"><h1 class="product_title entry-title">${title}</h1><p class="price"><span class="woocommerce-Price-amount amount"><bdi><span class="woocommerce-Price-currencySymbol">&euro;</span>${priceOf(index)}</bdi></span></p>
<div class="woocommerce-product-details__short-description">${text}</div><form class="cart"><button type="submit" class="single_add_to_cart_button button">Add to basket and pay later</button></form></div>
<div class="woocommerce-tabs"><ul class="tabs"><li><a href="#tab-info">Additional information</a></li></ul><div class="woocommerce-Tabs-panel" id="tab-info">${table.replace("<table>", `<table class="woocommerce-product-attributes shop_attributes">`)}</div></div>
<section class="related products"><h2>Related products</h2><ul class="products"><li class="product"><a href="/p"><h2 class="woocommerce-loop-product__title">A thing that goes with it</h2></a></li></ul></section></div></main></div>
<footer><form><label>Newsletter</label><input type="email"></form></footer></body>`,
    );
  },
};

const shopify: Theme = {
  name: "shopify",
  section: "shop",
  extraBlocksMax: 8,
  forbidden: ["You may also like", "Skip to product information", "Country/region", "Quantity"],
  render: ({ title, html, index }) => {
    const { text, table } = parts(html);
    return wholePage(
      `${title} – Northside`,
      `<meta property="og:type" content="product"><meta property="og:price:amount" content="${priceOf(index)}">${facts(title, index)}`,
      `<body class="gradient"><a class="skip-to-content-link" href="#MainContent">Skip to product information</a><div class="shopify-section-group-header-group"><header class="header"><a href="/" class="header__heading-link">Northside</a></header></div>
<main id="MainContent" class="content-for-layout"><section class="shopify-section section"><product-info><div class="product product--medium"><div class="grid__item product__media-wrapper"><div class="product__media media"><img srcset="/img/product-${index}.jpg?width=400 400w, /img/product-${index}.jpg?width=1200 1200w" src="/img/product-${index}.jpg?width=1200" alt="${title}"></div></div>
<div class="product__info-wrapper grid__item"><div class="product__info-container"><div class="product__title"><h1>${title}</h1></div><div class="price"><span class="price-item price-item--regular">€${priceOf(index)} EUR</span></div>
<div class="product-form__input"><label class="quantity__label">Quantity</label><input type="number" value="1"></div><div class="product__description rte">${text}${table}</div></div></div></div></product-info></section>
<section class="shopify-section"><div class="related-products"><h2 class="related-products__heading">You may also like</h2><ul class="grid"><li><a class="full-unstyled-link" href="/o">Another product of ours</a></li></ul></div></section></main>
<footer class="footer"><form><label>Country/region</label></form></footer></body>`,
    );
  },
};

export const shopThemes: readonly Theme[] = [woocommerce, shopify];
